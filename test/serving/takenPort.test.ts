/** A start whose port is taken fails before it has made anything (docs/design/settings.md S15). */
import { readdirSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { emptyDirectory, ownAccount } from "../support/surroundings.ts"
import { Program, run } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

layer(Serving.layer, { excludeTestServices: true })("a port that is taken", (it) => {
  it.effect("the embedded store is not initialized, and the failure is one sentence", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const { api } = (yield* Program.start("server", ["--roles", "api"], environment)).ready
      const port = new URL(String(api)).port
      const { path } = yield* Effect.acquireRelease(
        Effect.sync(() => emptyDirectory(ownAccount)),
        ({ remove }) => Effect.sync(remove)
      )
      const own = { ...environment, DATABASE_URL: "", NARTHEX_DATA_DIR: path, NARTHEX_CONSOLE_PORT: port }
      const { code, stderr, stdout } = yield* run("platform", [], own)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(
        stderr.trimEnd().split("\n").at(-1) ?? "",
        new RegExp(`^error: The console cannot listen on 127\\.0\\.0\\.1:${port}: .*NARTHEX_CONSOLE_PORT`)
      )
      assert.deepStrictEqual(readdirSync(path), [])
    })
  )

  it.effect("a database is not migrated", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const { admin } = (yield* Program.start("server", ["--roles", "api"], environment)).ready
      const postgres = yield* PostgresServer
      const database = yield* postgres.database
      const taken = {
        ...environment,
        DATABASE_URL: Redacted.value(database),
        NARTHEX_ADMIN_PORT: new URL(String(admin)).port
      }
      const { code, stderr } = yield* run("server", [], taken)
      assert.strictEqual(code, 1)
      assert.include(stderr, "NARTHEX_ADMIN_PORT")
      assert.deepStrictEqual(yield* postgres.admin("select to_regclass('narthex_migration') as it", database), [
        { it: null }
      ])
    })
  )

  it.effect("a proxy names its port before it waits for the control plane", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const { admin } = (yield* Program.start("server", ["--roles", "api"], environment)).ready
      const alone = { NARTHEX_API_INTERNAL_URL: "http://127.0.0.1:1", NARTHEX_PROXY_PORT: new URL(String(admin)).port }
      const { code, stderr } = yield* run("proxy", [], { ...environment, ...alone })
      assert.strictEqual(code, 1)
      assert.match(stderr, /^error: The Postgres proxy cannot listen on .*NARTHEX_PROXY_PORT/m)
    })
  )
})
