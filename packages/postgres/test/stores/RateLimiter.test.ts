import { layer } from "@effect/vitest"
import { RateLimiter } from "@narthex/core"
import { rateLimiterContract, runContract } from "@narthex/core/testing"
import { DateTime, Deferred, Effect, Fiber } from "effect"
import * as vitest from "vitest"
import { Database } from "../../src/index.ts"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, rateLimiterContract, "Postgres", onPostgres)

layer(onPostgres, { excludeTestServices: true })("a limit on Postgres", (it) => {
  it.effect("a call over the limit is refused while another transaction holds the counter", () =>
    Effect.gen(function* () {
      const { take } = yield* RateLimiter
      const { query, transaction } = yield* Database
      const now = DateTime.makeUnsafe("2030-01-01T00:00:30Z")
      const call = take({ limit_name: "creation", subject: "flood", limit: 1, window_seconds: 60, now, cost: 1 })
      vitest.assert.isTrue((yield* call).allowed)
      const [held, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* Effect.forkChild(
        transaction(
          Effect.gen(function* () {
            yield* query("test", "select 1 from rate_limit where subject = 'flood' for update")
            yield* Deferred.succeed(held, undefined)
            yield* Deferred.await(release)
          })
        )
      )
      yield* Deferred.await(held)
      // One that waits for the row fails after the store's limit of 15 seconds.
      const refused = yield* call
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      vitest.assert.isFalse(refused.allowed)
    })
  )
})
