import { chmod, mkdir, readdir } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { npmBinaries } from "../src/machine/NpmBinaries.ts"
import { findPostgresUser } from "../src/machine/PostgresUser.ts"
import { runProgram } from "../src/machine/runProgram.ts"
import { closedProgramDirectory } from "./support.ts"

describe("the Postgres from npm", { tags: ["npm-postgres"] }, () => {
  it.live(
    "the Postgres from npm runs from a copy that two callers may make at once, and a killed caller's is removed",
    () =>
      Effect.gen(function* () {
        const user = yield* findPostgresUser()
        const open = join(yield* closedProgramDirectory, "open-to-others")
        const cache = join(yield* closedProgramDirectory, "cache")
        yield* Effect.promise(async () => {
          await mkdir(open)
          await chmod(open, 0o777)
          // No process has this pid: it is above the largest that Linux gives.
          await mkdir(join(cache, "linux-9.4194305.00000000-0000-0000-0000-000000000000.making"), { recursive: true })
        })
        const find = npmBinaries(user, [open, cache])
        const [one, other] = yield* Effect.all([find, find], { concurrency: 2 })
        assert.strictEqual(one, other)
        assert.include(yield* runProgram(join(one, "postgres"), ["--version"]), "(PostgreSQL) 18")
        assert.deepStrictEqual(yield* Effect.promise(() => readdir(open)), [])
        assert.strictEqual((yield* Effect.promise(() => readdir(cache))).length, 1)
      })
  )
})
