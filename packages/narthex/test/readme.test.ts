/** The programs of the README run as they are written. */
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { blocksRunBy } from "../../../test/support/documentedBlocks.ts"
import { inFolder, printed } from "../../../test/support/runProgram.ts"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"

const blocks = blocksRunBy("packages/narthex/test/readme.test.ts")
const textsIn = (language: string) => blocks.filter((block) => block.language === language).map(({ text }) => text)
const programs = textsIn("ts")
const [first = "", withEffect = "", mounted = "", ownSessions = "", inTransaction = ""] = programs
const [firstOfRepository] = blocksRunBy("test/documentation.test.ts")

/** Asks both forms of the program for the providers. It listens on a file of the test's own, because ports are few. */
const asks = (socket: string) => `
import { once } from "node:events"
import { request } from "node:http"

const { default: served } = await import("./mounted.ts")
const url = "/v1/auth/providers"
const asFunction = await served.fetch(new Request(\`http://host.example.com\${url}\`))
const asked = request({ socketPath: ${JSON.stringify(socket)}, path: url }).end()
const [response] = await once(asked, "response")
console.log(asFunction.status, response.statusCode)
process.exit(0)
`

describe("the README", () => {
  it("the first program makes a key, is refused, revokes it and receives an event, in at most 25 lines without Effect", async () => {
    assert.isAtMost(first.trimEnd().split("\n").length, 25)
    assert.notInclude(first, "effect")
    assert.strictEqual(await printed(first), "scope_insufficient\ninvalid_token\noperation.updated.v1\n")
  })

  it("the program with Effect does the same", async () => {
    assert.strictEqual(
      await printed(withEffect),
      "This call needs organization; the credential has project. InvalidCredential Event\n"
    )
  })

  it("the lines that install name every package that the program below them imports", () => {
    const lines = textsIn("sh").map((text) => {
      const [, names = ""] = /^(?:npm init -y --init-type=module\n)?npm install (.+)\n$/.exec(text) ?? assert.fail(text)
      return names.split(" ")
    })
    // Drizzle loads the driver by itself.
    const imported = [first, withEffect, `${inTransaction} from "pg"`].map((program) => [
      ...new Set([...program.matchAll(/ from "((?:@[^/"]+\/)?[^/"]+)/g)].map(([, name = ""]) => name))
    ])
    assert.deepStrictEqual(
      lines.map((names) => names.toSorted()),
      imported.map((names) => names.toSorted())
    )
  })

  it("the program that mounts the API serves it as a handler of Node and as a function", async () => {
    assert.include(mounted, "listen(4400)")
    await inFolder(async (folder) => {
      const socket = join(folder, "socket")
      const program = mounted.replace("listen(4400)", `listen(${JSON.stringify(socket)})`)
      assert.strictEqual(await printed(asks(socket), {}, { "mounted.ts": program }), "200 200\n")
    })
  })

  it("the program with sessions of its own is served for its cookie, and no longer after its sign-out", async () => {
    assert.strictEqual(await printed(ownSessions), "200\n401\n")
  })

  it("the README of the repository has the same first program", () => {
    assert.strictEqual(firstOfRepository?.text, first)
  })

  it("the README has no other program", () => assert.lengthOf(programs, 5))
})

layer(PostgresServer.layer, { excludeTestServices: true })("the README, on Postgres", (it) => {
  it.effect(
    "the program with a transaction of Drizzle commits the row with the event, and is allowed its own permission",
    () =>
      Effect.gen(function* () {
        const server = yield* PostgresServer
        const url = yield* server.database
        yield* server.admin("create table invoice (id text primary key, org_id text not null)", url)
        const secret = Buffer.alloc(32, 7).toString("base64url")
        const said = yield* Effect.promise(() =>
          printed(inTransaction, { DATABASE_URL: Redacted.value(url), NARTHEX_SECRET: secret })
        )
        assert.strictEqual(said, "")
        const tables = ["event_log", "event_outbox"]
          .map((table) => `select type, data from ${table}`)
          .join(" union all ")
        const events = `select data ->> 'invoice_id' as id from (${tables}) as both_tables where type = 'invoice.paid.v1'`
        assert.deepStrictEqual(yield* server.admin(events, url), [{ id: "inv_1" }])
        assert.deepStrictEqual(yield* server.admin("select id from invoice", url), [{ id: "inv_1" }])
      })
  )
})
