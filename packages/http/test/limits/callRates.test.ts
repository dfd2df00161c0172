/** The rates that an instance keeps in memory (docs/design/api.md A34): who is counted, and what a refusal says. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { defaultRateLimits } from "../../src/limits/RateLimits.ts"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { arrive, key, refused } from "../support/story.ts"

/** Eight calls of a credential at once, and two in a second. */
const limits = { ...defaultRateLimits, calls_per_second: 2 }

layer(memoryApi({ limits, serving: "fetch", stands: true }), { excludeTestServices: true })(
  "the rate of calls",
  (it) => {
    it.effect("calls above the rate are refused, and say when the next one may be made", () =>
      Effect.gen(function* () {
        const mine = yield* key(yield* arrive())
        const read = mine.call("GET", "/v1/regions")
        const calls = yield* Effect.all(
          Array.from({ length: 10 }, () => read),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          calls.map(({ status }) => status).toSorted(),
          [200, 200, 200, 200, 200, 200, 200, 200, 429, 429]
        )
        const refusal = yield* read
        refused(refusal, 429, "rate_limited")
        assert.deepInclude(refusal.body, { limit: "calls", held: 8, allowed: 8, retry_after_ms: 1_000 })
        assert.deepInclude(refusal.headers, {
          "retry-after": "1",
          "ratelimit-policy": '"calls";q=8;w=4',
          ratelimit: '"calls";r=0;t=1'
        })
        yield* (yield* Ahead).by("1 second")
        assert.deepStrictEqual([(yield* read).status, (yield* read).status, (yield* read).status], [200, 200, 429])
      })
    )

    it.effect("a runaway API key uses up neither the rate of its owner's session nor that of another key", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        const [runaway, other] = [yield* key(who), yield* key(who)]
        for (let made = 0; made < 8; made++) yield* runaway.call("GET", "/v1/regions")
        refused(yield* runaway.call("GET", "/v1/regions"), 429, "rate_limited")
        assert.strictEqual((yield* other.call("GET", "/v1/regions")).status, 200)
        assert.strictEqual((yield* who.call("GET", "/v1/regions")).status, 200)
      })
    )

    it.effect("a session whose calls are over the rate may be refreshed, and ended", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        while ((yield* who.call("GET", "/v1/regions")).status === 200);
        assert.strictEqual((yield* who.call("POST", "/v1/auth/refresh")).status, 200)
        assert.strictEqual((yield* who.call("POST", "/v1/auth/logout")).status, 204)
      })
    )
  }
)

layer(memoryApi({ serving: "fetch", stands: true, limits: defaultRateLimits }), { excludeTestServices: true })(
  "the rate of calls by default",
  (it) => {
    it.effect("lets five pages of the console through at once, of ten calls each", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        const calls = yield* Effect.all(
          Array.from({ length: 50 }, () => who.call("GET", "/v1/regions")),
          { concurrency: "unbounded" }
        )
        for (const { status } of calls) assert.strictEqual(status, 200)
      })
    )
  }
)
