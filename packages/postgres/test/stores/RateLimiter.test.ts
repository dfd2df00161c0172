import { assert, layer } from "@effect/vitest"
import { RateLimiter } from "@narthex/core"
import { rateLimiterContract, runContract } from "@narthex/core/testing"
import { DateTime, Deferred, Effect, Fiber } from "effect"
import * as vitest from "vitest"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Database } from "../../src/index.ts"
import { isAwaited, ownBackend } from "../support/observe.ts"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, rateLimiterContract, "Postgres", onPostgres)

/** A call of a subject, of which two are allowed in a minute. */
const callOf = (subject: string) =>
  RateLimiter.use(({ take }) =>
    take({
      limit_name: "creation",
      subject,
      limit: 2,
      window_seconds: 60,
      now: DateTime.makeUnsafe("2030-01-01T00:00:30Z"),
      cost: 1
    })
  )

/** Keeps a transaction open after `work` until `release`, which waits for its commit. */
const open = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { transaction } = yield* Database
    const [done, leave] = [yield* Deferred.make<number>(), yield* Deferred.make<void>()]
    const step = Effect.gen(function* () {
      yield* work
      yield* Deferred.succeed(done, yield* ownBackend)
      yield* Deferred.await(leave)
    })
    const holder = yield* Effect.forkChild(transaction(step))
    const backend = yield* Effect.raceFirst(
      Deferred.await(done),
      Effect.flatMap(Fiber.join(holder), () => Effect.never)
    )
    return { backend, release: Effect.andThen(Deferred.succeed(leave, undefined), Fiber.join(holder)) }
  })

layer(onPostgres, { excludeTestServices: true })("a limit on Postgres", (it) => {
  it.effect("a call over the limit is refused while another transaction holds the counter", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const call = callOf("flood")
      yield* call
      assert.isTrue((yield* call).allowed)
      const { release } = yield* open(
        query("test", "select 1 from narthex.rate_limit where subject = 'flood' for update")
      )
      // A call that waits for the row fails after the store's limit of 15 seconds.
      const refused = yield* call
      yield* release
      assert.isFalse(refused.allowed)
    })
  )

  it.effect("a call that waits for another one's count is refused when that was the last", () =>
    Effect.gen(function* () {
      const call = callOf("racing")
      yield* call
      const { backend, release } = yield* open(call)
      const second = yield* Effect.forkChild(call)
      yield* eventually("the second call to wait for the first", isAwaited(backend))
      yield* release
      assert.isFalse((yield* Fiber.join(second)).allowed)
    })
  )
})
