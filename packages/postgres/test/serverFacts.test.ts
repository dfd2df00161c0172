/** A server or a database that cannot be the store is refused before anything is written. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Database, migrate, unfitness, whyUnusable } from "../src/index.ts"
import { PostgresServer } from "./support/PostgresServer.ts"

describe("unfitness", () => {
  it("Postgres before 15 is refused with its version, and 15 is not", () => {
    const facts = (version_number: number, version: string) => ({ version_number, version, encoding: "UTF8" })
    assert.match(
      unfitness(facts(140_013, "14.13"))?.message ?? "",
      /^it is Postgres 14\.13, and Narthex needs 15 or newer\./
    )
    assert.isUndefined(unfitness(facts(150_000, "15.0")))
  })
})

layer(PostgresServer.layer, { excludeTestServices: true })("a database of another encoding", (it) => {
  it.effect("a database whose encoding is not UTF8 is refused with how to create one, and stays empty", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* PostgresServer
      const name = "narthex_latin"
      yield* Effect.acquireRelease(
        admin(`create database ${name} template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'`),
        () => admin(`drop database ${name} with (force)`)
      )
      const database = Database.layer({ url: url(name), maxConnections: 1, applicationName: "narthex-test" })
      const error = yield* Effect.flip(Effect.provide(migrate, database, { local: true }))
      const { correct, sentence } = whyUnusable(Redacted.value(url(name)), "DATABASE_URL")(error)
      assert.isTrue(correct)
      assert.match(
        sentence,
        /^DATABASE_URL: Postgres on .+ the database has the encoding LATIN1, and Narthex needs UTF8\. Create/
      )
      assert.deepStrictEqual(yield* admin("select * from pg_tables where schemaname = 'public'", url(name)), [])
    }).pipe(Effect.scoped)
  )
})
