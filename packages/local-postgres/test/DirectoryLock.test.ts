import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { lockDirectory } from "../src/machine/DirectoryLock.ts"
import { closedDirectory, supervise } from "./support.ts"

describe("the lock of a data directory", () => {
  it.live("a locked directory refuses a second holder and names the first", () =>
    Effect.gen(function* () {
      const directory = yield* closedDirectory
      yield* lockDirectory(directory)
      const error = yield* Effect.flip(lockDirectory(directory))
      assert(error._tag === "DataDirectoryLocked")
      assert.deepStrictEqual(error.holder, Option.some(process.pid))
      assert.include(error.message, `in use by process ${process.pid}`)
    })
  )

  it.live("a lock is released when the scope of its holder closes", () =>
    Effect.gen(function* () {
      const directory = yield* closedDirectory
      yield* Effect.scoped(lockDirectory(directory))
      yield* lockDirectory(directory)
    })
  )

  it.live("exactly one of many simultaneous callers gets the lock", () =>
    Effect.gen(function* () {
      const directory = yield* closedDirectory
      const all = yield* Effect.all(
        Array.from({ length: 8 }, () => Effect.exit(lockDirectory(directory))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(all.filter(Exit.isSuccess).length, 1)
    })
  )

  it.live("a lock names the process that holds it, and ends with that process, even after kill -9", () =>
    Effect.gen(function* () {
      const dataDir = yield* closedDirectory
      const child = yield* supervise({ run: "lock", dataDir, binaries: "system" })
      const error = yield* Effect.flip(Effect.scoped(lockDirectory(dataDir)))
      assert.include(error.message, `process ${child.pid}`)
      yield* child.end("SIGKILL")
      yield* lockDirectory(dataDir)
    })
  )
})
