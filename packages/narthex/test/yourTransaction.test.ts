/** The programs about the host's transaction run as they are written, each on a database of its own. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { blocksRunBy } from "../../../test/support/documentedBlocks.ts"
import { printed } from "../../../test/support/runProgram.ts"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"

const programs = blocksRunBy("packages/narthex/test/yourTransaction.test.ts")

layer(PostgresServer.layer, { excludeTestServices: true })("the page about the host's transaction", (it) => {
  for (const { at, text } of programs)
    it.effect(`the program of ${at} commits the person of the control plane with the host's row`, () =>
      Effect.gen(function* () {
        const server = yield* PostgresServer
        const url = yield* server.database
        yield* server.admin("create table invoice (id text primary key, org_id text not null)", url)
        const secret = Buffer.alloc(32, 7).toString("base64url")
        const environment = { DATABASE_URL: Redacted.value(url), NARTHEX_SECRET: secret }
        // postgres.js takes a socket and its user as options, and not from the parameters of a URL.
        const { pathname, searchParams } = new URL(Redacted.value(url))
        const { host, user } = Object.fromEntries(searchParams)
        const options = JSON.stringify({ host, user, database: pathname.slice(1) })
        const program = host === undefined ? text : text.replace("postgresJs(url)", `postgresJs(${options})`)
        assert.strictEqual(yield* Effect.promise(() => printed(program, environment)), "")
        const both = "select invoice.id from invoice join user_account on user_account.id::text = invoice.org_id"
        assert.deepStrictEqual(yield* server.admin(both, url), [{ id: "inv_1" }])
      })
    )
})
