/** Turns at the limits, where a host has begun a transaction. */
import { assert, describe, it } from "@effect/vitest"
import { RateLimiter, Transaction } from "@narthex/core"
import { Effect, Fiber, Layer } from "effect"
import { Limits } from "../../src/limits/Limits.ts"
import { defaultRateLimits, RateLimits } from "../../src/limits/RateLimits.ts"

const address = "198.51.100.1"

const transaction = Transaction.make({
  begin: (work) => work,
  append: () => Effect.void,
  committed: Effect.void,
  join: (_, work) => work
})

const uncounted = RateLimiter.of({ take: () => Effect.die("a count"), purge: () => Effect.die("a purge") })

/** One refusal in half a second. */
const withLimits = Limits.layer.pipe(
  Layer.provide(Layer.succeed(RateLimiter, uncounted)),
  Layer.provideMerge(Layer.succeed(Transaction, transaction)),
  Layer.provide(Layer.succeed(RateLimits, { ...defaultRateLimits, failures_per_minute: 120 }))
)

describe("limits", () => {
  it.effect("what a host's transaction does, which holds locks, does not wait for its turn", () =>
    Effect.gen(function* () {
      const { refuse } = yield* Limits
      const { within } = yield* Transaction
      assert.isFalse(yield* refuse(address))
      const waits = yield* Effect.forkChild(refuse(address), { startImmediately: true })
      assert.isUndefined(waits.pollUnsafe())
      assert.isFalse(yield* within({}, refuse(address)))
      yield* Fiber.interrupt(waits)
    }).pipe(Effect.provide(withLimits))
  )
})
