/** `RegionCatalog` on Postgres. Only operators change the catalog, so one lock serializes all changes. */
import { Region, RegionCatalog, RegionId, type RegionUse, runnerTiming } from "@narthex/core"
import { Effect, Layer, Schema } from "effect"
import { Database } from "../database/Database.ts"
import { exclusively } from "../database/exclusively.ts"
import { reading, tableOf } from "../database/tableOf.ts"

const Row = Schema.Struct({
  ...Region.fields,
  location: Schema.NullOr(Schema.String),
  active: Schema.Boolean,
  position: Schema.Int
})

const Use: Schema.Codec<RegionUse, unknown> = Schema.Struct({
  region_id: RegionId,
  runners: Schema.Int,
  seen_ms: Schema.NullOr(Schema.Finite),
  projects: Schema.Int,
  computes: Schema.Int
})

const ago = "clock_timestamp() - r.seen_at"
const there = `interval '${runnerTiming.there} milliseconds'`

const uses = `
select region.region_id,
  (select count(*)::int from narthex.region_runner r where r.region_id = region.region_id and ${ago} <= ${there}) as runners,
  (select extract(epoch from min(${ago}))::float8 * 1000 from narthex.region_runner r
   where r.region_id = region.region_id) as seen_ms,
  (select count(*)::int from narthex.project p where p.region_id = region.region_id and p.deleted_at is null) as projects,
  (select count(*)::int from narthex.endpoint e
   where e.region_id = region.region_id and e.current_state = 'active' and e.deleted_at is null) as computes
from narthex.region order by region.position`

const noteRunner = `
with ended as (delete from narthex.region_runner r where r.region_id = $1 and r.runner_id <> $2 and ${ago} > ${there})
insert into narthex.region_runner (runner_id, region_id, seen_at) values ($2, $1, clock_timestamp())
on conflict (runner_id) do update set seen_at = excluded.seen_at`

const lockName = "region"

const entryOf = ({ active, location, position, ...region }: typeof Row.Type) => ({
  region: new Region(location === null ? region : { ...region, location }),
  active,
  position
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const regions = tableOf(database, "region", Region)
  const all = Effect.map(
    reading(database, Row).all("RegionCatalog.all", "select * from narthex.region order by position", []),
    (rows) => rows.map(entryOf)
  )

  /** The caller holds the lock. */
  const put = Effect.fnUntraced(function* (region: Region) {
    if (region.default)
      yield* database.query(
        "RegionCatalog.put",
        `update narthex.region set "default" = false where "default" and region_id <> $1`,
        [region.region_id]
      )
    yield* regions.write(
      "RegionCatalog.put",
      region,
      `insert into narthex.region
       select (jsonb_populate_record(it, jsonb_build_object(
         'active', true, 'position', (select coalesce(max(position) + 1, 0) from narthex.region)))).*
       from jsonb_populate_record(null::narthex.region, $1) as it
       on conflict (region_id) do update ${regions.setExcluded}, active = true`
    )
  })

  return RegionCatalog.of({
    all,
    active: Effect.map(all, (entries) => entries.filter((entry) => entry.active).map((entry) => entry.region)),
    seed: (ids) =>
      exclusively(
        database,
        lockName,
        Effect.asVoid(
          database.query(
            "RegionCatalog.seed",
            `insert into narthex.region (region_id, name, "default", geo_lat, geo_long, active, position)
             select it.id, it.id, it.n = 1, 0, 0, true, it.n - 1
             from unnest($1::text[]) with ordinality as it(id, n)
             where not exists (select 1 from narthex.region)`,
            [ids]
          )
        )
      ),
    put: (region) => exclusively(database, lockName, put(region)),
    edit: (id, edit) =>
      exclusively(
        database,
        lockName,
        Effect.gen(function* () {
          const entry = (yield* all).find(({ region }) => region.region_id === id)
          yield* put(yield* Effect.fromResult(edit(entry)))
        })
      ),
    retire: (id) =>
      exclusively(
        database,
        lockName,
        Effect.map(
          database.query(
            "RegionCatalog.retire",
            `update narthex.region set active = false, "default" = false where region_id = $1 and active returning region_id`,
            [id]
          ),
          (rows) => rows.length > 0
        )
      ),
    noteRunner: (region, runner) =>
      Effect.asVoid(database.query("RegionCatalog.noteRunner", noteRunner, [region, runner])),
    uses: reading(database, Use).all("RegionCatalog.uses", uses, [])
  })
})

export const PostgresRegionCatalog = {
  layer: Layer.effect(RegionCatalog, make)
}
