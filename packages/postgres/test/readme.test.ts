/** The programs of the README run on a real Postgres, with its address in place of theirs. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { blocksRunBy } from "../../../test/support/documentedBlocks.ts"
import { printed } from "../../../test/support/runProgram.ts"
import { PostgresServer } from "./support/PostgresServer.ts"

const [migrating = "", within = "", ...others] = blocksRunBy("packages/postgres/test/readme.test.ts").map(
  ({ text }) => text
)

const address = "postgresql:///narthex?host=/var/run/postgresql&user=narthex"

layer(PostgresServer.layer, { excludeTestServices: true })("the README of @narthex/postgres", (it) => {
  it.effect("the README has two programs, and the first one migrates an empty database", () =>
    Effect.gen(function* () {
      assert.isEmpty(others)
      assert.include(migrating, address)
      const server = yield* PostgresServer
      const url = yield* server.database
      yield* Effect.promise(() => printed(migrating.replace(address, Redacted.value(url))))
      assert.deepStrictEqual(yield* server.admin("select count(*)::int as users from user_account", url), [
        { users: 0 }
      ])
    })
  )

  it.effect("the second program makes a person in the transaction of postgres.js that adds a row", () =>
    Effect.gen(function* () {
      const server = yield* PostgresServer
      const url = yield* server.database
      yield* server.admin("create table customer (subject text)", url)
      const { hostname, pathname, port, searchParams, username } = new URL(Redacted.value(url))
      // postgres.js takes a directory of sockets from the environment alone.
      assert.include(within, "connect(url)")
      const program = within.replace("connect(url)", `connect(${JSON.stringify(`postgresql://${pathname}`)})`)
      yield* Effect.promise(() =>
        printed(program, {
          DATABASE_URL: Redacted.value(url),
          NARTHEX_SECRET: Buffer.alloc(32, 7).toString("base64url"),
          PGHOST: searchParams.get("host") ?? hostname,
          PGPORT: port || "5432",
          PGUSER: searchParams.get("user") ?? username
        })
      )
      assert.deepStrictEqual(yield* server.admin("select subject from customer", url), [{ subject: "user_42" }])
      assert.deepStrictEqual(yield* server.admin("select subject from user_account", url), [{ subject: "user_42" }])
    })
  )
})
