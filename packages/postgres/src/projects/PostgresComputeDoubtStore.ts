/** `ComputeDoubtStore` on Postgres. */
import { type ComputeDoubt, ComputeDoubtStore } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"

const make = Effect.gen(function* () {
  const { query } = yield* Database

  return ComputeDoubtStore.of({
    record: ({ endpoint_id, generation }, now) =>
      Effect.asVoid(
        query(
          "ComputeDoubtStore.record",
          `insert into narthex.compute_doubt as former (endpoint_id, generation, at) values ($1, $2, $3)
           on conflict (endpoint_id) do update set generation = excluded.generation, at = excluded.at
           where former.generation < excluded.generation`,
          [endpoint_id, generation, DateTime.toDateUtc(now)]
        )
      ),
    stands: ({ endpoint_id, generation }) =>
      Effect.map(
        query(
          "ComputeDoubtStore.stands",
          "select 1 from narthex.compute_doubt where endpoint_id = $1 and generation = $2",
          [endpoint_id, generation]
        ),
        (rows) => rows.length > 0
      ),
    oldest: (region, limit) =>
      query<ComputeDoubt>(
        "ComputeDoubtStore.oldest",
        `select endpoint_id, generation from narthex.compute_doubt d
         where not exists (select from narthex.endpoint e where e.id = d.endpoint_id and e.region_id <> $2)
         order by at, endpoint_id limit $1`,
        [limit, region]
      ),
    remove: ({ endpoint_id, generation }) =>
      Effect.asVoid(
        query(
          "ComputeDoubtStore.remove",
          "delete from narthex.compute_doubt where endpoint_id = $1 and generation = $2",
          [endpoint_id, generation]
        )
      )
  })
})

export const PostgresComputeDoubtStore = {
  layer: Layer.effect(ComputeDoubtStore, make)
}
