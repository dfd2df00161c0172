/** A region's local computes are in one data directory. */
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
      yield* claimHome(join(first, "data"), "eu")
      yield* claimHome(join(first, "data"), "eu")
      const { message } = yield* Effect.flip(claimHome(second, "eu"))
      assert.include(message, `another data directory than ${second}`)
      yield* claimHome(join(first, "data"), "eu")
      yield* query("test", "delete from narthex.region_home")
      yield* claimHome(second, "eu")
      assert.include((yield* Effect.flip(claimHome(join(first, "data"), "eu"))).message, "another data directory")
    })
  )

  it.effect("each region has a directory of its own, and a directory is of one region", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* query("test", "delete from narthex.region_home")
      const [first, second] = [yield* directory, yield* directory]
      yield* claimHome(first, "eu")
      yield* claimHome(second, "us")
      for (const [path, region, of] of [
        [first, "us", "eu"],
        [second, "eu", "us"],
        [second, "ap", "us"]
      ] as const) {
        const { message } = yield* Effect.flip(claimHome(path, region))
        assert.include(message, `has the branches of region "${of}"`)
        assert.include(message, `Set NARTHEX_REGION=${of}`)
      }
      yield* claimHome(second, "us")
    })
  )

  it.effect("exactly one of several runners that start at once on different directories is accepted", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* query("test", "delete from narthex.region_home")
      const paths = yield* Effect.forEach([1, 2, 3, 4], () => directory)
      const outcomes = yield* Effect.forEach(paths, (path) => Effect.exit(claimHome(path, "eu")), {
        concurrency: "unbounded"
      })
      assert.lengthOf(
        outcomes.filter(({ _tag }) => _tag === "Success"),
        1
      )
    })
  )
})
