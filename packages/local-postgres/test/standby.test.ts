/** Standbys of a data directory. The holder is another process, which tests stop and kill. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../../../test/harness/eventually.ts"
import { isRunning } from "../src/machine/Processes.ts"
import { awaitDirectory } from "../src/machine/standby.ts"
import { closedDirectory, supervise } from "./support.ts"

/** A holder that works renews its sign every 200 ms, see `supervisor.ts`. A busy machine may delay that by seconds. */
const longPatience = Duration.seconds(10)
/** For holders that are stopped, and for time that is the test's. */
const shortPatience = Duration.seconds(1)

const waiting = (dataDir: string, patience: Duration.Duration) =>
  Effect.forkScoped(awaitDirectory(dataDir, { patience }))

describe("A standby", () => {
  it.live("a standby takes over at once when the holder is killed, and kills no holder that shows signs of life", () =>
    Effect.gen(function* () {
      const dataDir = yield* closedDirectory
      const holder = yield* supervise({ run: "standby", dataDir, binaries: "" })
      const standby = yield* waiting(dataDir, longPatience)
      // The holder renews its sign at most fifty times within the standby's patience.
      const signs = () => Number(readFileSync(join(dataDir, "sign-of-life"), "utf8").split(" ")[1])
      let first = Number.NaN
      yield* eventually(
        "a sign of life that is not just being written",
        Effect.sync(() => {
          first = signs()
          return !Number.isNaN(first)
        })
      )
      yield* eventually(
        "the holder to renew its sign for longer than the standby's patience, or to be killed",
        Effect.sync(() => signs() > first + 55 || !isRunning(holder.pid ?? 0))
      )
      assert.isTrue(isRunning(holder.pid ?? 0))
      assert.isUndefined(standby.pollUnsafe())
      yield* holder.end("SIGKILL")
      yield* Fiber.join(standby)
    }).pipe(Effect.scoped)
  )

  it.live("a standby kills a holder that is stopped, and takes over", () =>
    Effect.gen(function* () {
      const dataDir = yield* closedDirectory
      const holder = yield* supervise({ run: "standby", dataDir, binaries: "" })
      process.kill(holder.pid ?? 0, "SIGSTOP")
      const standby = yield* waiting(dataDir, shortPatience)
      yield* Fiber.join(standby)
      yield* eventually(
        "the holder to be gone",
        Effect.sync(() => !isRunning(holder.pid ?? 0))
      )
    }).pipe(Effect.scoped)
  )

  it.effect("a holder renews its sign of life", () =>
    Effect.gen(function* () {
      const dataDir = yield* closedDirectory
      yield* awaitDirectory(dataDir, { patience: shortPatience })
      const sign = () => readFileSync(join(dataDir, "sign-of-life"), "utf8")
      const seen = new Set([sign()])
      // Time is the test's. A sign is written to the disk in between, and may be read empty while it is.
      yield* eventually(
        "three renewals",
        Effect.gen(function* () {
          yield* TestClock.adjust(shortPatience)
          const read = sign()
          if (read !== "") seen.add(read)
          return seen.size >= 4
        })
      )
    }).pipe(Effect.scoped)
  )
})
