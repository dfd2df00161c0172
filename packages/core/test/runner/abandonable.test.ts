import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Result } from "effect"
import { TestClock } from "effect/testing"
import { abandonable } from "../../src/runner/abandonable.ts"
import { hangs } from "./story.ts"

/** Lets other fibers run; no time passes. */
const turns = Effect.repeat(Effect.yieldNow, { times: 50 })

const grace = Duration.seconds(5)

/** Met after a second, when the work has begun. */
const late = Effect.as(Effect.sleep("1 second"), "late" as const)

describe("abandonable", () => {
  it.effect("work that cannot be interrupted is awaited for the grace period and then abandoned", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkDetach(abandonable(hangs, late, grace))
      yield* turns
      yield* TestClock.adjust("1 second")
      yield* turns
      yield* TestClock.adjust("4 seconds")
      yield* turns
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* turns
      assert.deepStrictEqual(waiting.pollUnsafe(), Exit.succeed(Result.fail("late")))
    })
  )

  it.effect("work that can be interrupted is awaited no longer than it takes", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkDetach(abandonable(Effect.never, late, grace))
      yield* turns
      yield* TestClock.adjust("1 second")
      yield* turns
      assert.deepStrictEqual(waiting.pollUnsafe(), Exit.succeed(Result.fail("late")))
    })
  )

  it.effect("work that ends first keeps its result, and the condition is not awaited", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* abandonable(Effect.succeed(1), Effect.never, grace), Result.succeed(1))
    })
  )
})
