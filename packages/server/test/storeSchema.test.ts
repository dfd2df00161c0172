/** The schema of `DATABASE_SCHEMA` has the tables of the store, also of the embedded one. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Database } from "@narthex/postgres"
import { Effect, Redacted } from "effect"
import { dataDirectory, kinds } from "../../local-postgres/test/support.ts"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"
import { layerStorage } from "../src/store.ts"
import { type Env, load, secret } from "./settings/environment.ts"

/** The schemas with a table of projects, after a start. */
const schemasOf = (env: Env) =>
  Effect.gen(function* () {
    const settings = yield* load({ ...env, DATABASE_SCHEMA: "own" }, true)
    const found = Database.use(({ query }) =>
      query<{ readonly name: string }>(
        "test",
        "select schemaname::text as name from pg_tables where tablename = 'project'"
      )
    )
    const rows = yield* Effect.provide(found, layerStorage(settings), { local: true })
    return rows.map(({ name }) => name)
  })

layer(PostgresServer.layer, { excludeTestServices: true, timeout: "60 seconds" })("DATABASE_SCHEMA", (it) => {
  it.effect("the schema of an operator's database is the one that is set", () =>
    Effect.gen(function* () {
      const url = Redacted.value(yield* (yield* PostgresServer).database)
      assert.deepStrictEqual(yield* schemasOf({ DATABASE_URL: url, NARTHEX_MASTER_SECRET: secret }), ["own"])
    })
  )
})

describe("the embedded store", { tags: [kinds[0].tag] }, () => {
  it.live("the schema of the embedded store is the one that is set", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* schemasOf({ NARTHEX_DATA_DIR: yield* dataDirectory(0) }), ["own"])
    })
  )
})
