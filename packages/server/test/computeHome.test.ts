/** A store's local computes are in one data directory. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Database } from "@narthex/postgres"
import { Effect } from "effect"
import { testDatabase } from "../../postgres/test/support/TestDatabase.ts"
import { claimHome } from "../src/computeHome.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "narthex-home-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

layer(testDatabase, { excludeTestServices: true })("the data directory of local computes", (it) => {
  it.effect("a runner with another data directory is refused, and the first one starts again and again", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const [first, second] = [yield* directory, yield* directory]
      yield* claimHome(join(first, "data"))
      yield* claimHome(join(first, "data"))
      const { message } = yield* Effect.flip(claimHome(second))
      assert.include(message, `another data directory than ${second}`)
      yield* claimHome(join(first, "data"))
      yield* query("test", "delete from narthex.compute_home")
      yield* claimHome(second)
      assert.include((yield* Effect.flip(claimHome(join(first, "data")))).message, "another data directory")
    })
  )

  it.effect("exactly one of several runners that start at once on different directories is accepted", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* query("test", "delete from narthex.compute_home")
      const paths = yield* Effect.forEach([1, 2, 3, 4], () => directory)
      const outcomes = yield* Effect.forEach(paths, (path) => Effect.exit(claimHome(path)), {
        concurrency: "unbounded"
      })
      assert.lengthOf(
        outcomes.filter(({ _tag }) => _tag === "Success"),
        1
      )
    })
  )
})
