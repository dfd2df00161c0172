/** The rates of calls and refusals over HTTP (docs/design/api.md A35). Time is what the tests let pass. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { defaultRateLimits } from "../../src/limits/RateLimits.ts"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { arrive, refused } from "../support/story.ts"
import { type Answer, call, type TestApi } from "../support/wire.ts"

/** One call of a credential in half a second, and 16 that wait; of refusals as many. */
const limits = { ...defaultRateLimits, calls_per_second: 2, person_calls_per_second: 2, failures_per_minute: 120 }

type Call = Fiber.Fiber<Answer, unknown>

const halfSecond = Duration.millis(500)
const longestWait = Duration.seconds(10)

const half = Effect.flatMap(Ahead, (ahead) => ahead.by(halfSecond))

const nextTurn = Effect.promise(() => new Promise<void>((next) => setImmediate(next)))

const isAnswered = (each: Call) => each.pollUnsafe() !== undefined

/** Waits until so many are answered, while no time passes. */
const soMany = (calls: ReadonlyArray<Call>, count: number) =>
  Effect.gen(function* () {
    while (calls.filter(isAnswered).length < count) yield* nextTurn
  })

/** The answers, one in each half of a second. */
const inTurn = Effect.fnUntraced(function* (calls: ReadonlyArray<Call>) {
  for (let waiting = calls.filter((each) => !isAnswered(each)).length; waiting > 0; waiting--) {
    yield* half
    yield* soMany(calls, calls.length - waiting + 1)
  }
  return yield* Fiber.joinAll(calls)
})

const started = (count: number, call: Effect.Effect<Answer, never, TestApi>) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.forkChild(call, { startImmediately: true }))

/** A key that has made one call in this half of a second, and its owner, who has made none. */
const busyKey = Effect.gen(function* () {
  const who = yield* arrive()
  yield* half
  const { body } = yield* who.call("POST", "/v1/api-keys", { body: { name: "busy" } })
  yield* half
  const read = call("GET", "/v1/regions", { token: body.secret })
  assert.strictEqual((yield* read).status, 200)
  return { who, id: body.api_key.id, read }
})

// Without sockets, of which the client has fewer than these tests have calls.
layer(memoryApi({ limits, serving: "fetch", stands: true, held: [halfSecond, longestWait] }), {
  excludeTestServices: true
})("rates of calls", (it) => {
  it.effect("calls over the rate wait for their turn, and none is refused", () =>
    Effect.gen(function* () {
      const { read } = yield* busyKey
      const calls = yield* started(16, read)
      for (const { status } of yield* inTurn(calls)) assert.strictEqual(status, 200)
    })
  )

  it.effect("a call is refused when as many of its credential wait as may", () =>
    Effect.gen(function* () {
      const { read } = yield* busyKey
      const calls = yield* started(24, read)
      yield* soMany(calls, 8)
      const [first] = calls.filter(isAnswered)
      if (first === undefined) return assert.fail("none was refused")
      const answer = yield* Fiber.join(first)
      refused(answer, 429, "rate_limited")
      assert.deepInclude(answer.body, { limit: "calls", held: 16, allowed: 16 })
      yield* Fiber.interruptAll(calls)
    })
  )

  it.effect("a key that is revoked while its calls wait is refused in their turn", () =>
    Effect.gen(function* () {
      const { id, read, who } = yield* busyKey
      const calls = yield* started(10, read)
      // Many more turns of the event loop than the calls need until they wait.
      for (let turn = 0; turn < 500; turn++) yield* nextTurn
      assert.strictEqual((yield* who.call("DELETE", `/v1/api-keys/${id}`)).status, 204)
      for (const answer of yield* inTurn(calls)) refused(answer, 401, "invalid_token")
    })
  )

  it.effect("failed authentications of an address wait for their turn, and a credential that verifies does not", () =>
    Effect.gen(function* () {
      const headers = { "x-forwarded-for": "198.51.100.7" }
      const who = yield* arrive()
      yield* half
      const failing = yield* started(5, call("GET", "/v1/regions", { headers, token: "nonsense" }))
      yield* soMany(failing, 1)
      assert.strictEqual((yield* who.call("GET", "/v1/regions", { headers })).status, 200)
      assert.strictEqual(failing.filter(isAnswered).length, 1)
      for (const answer of yield* inTurn(failing)) refused(answer, 401, "invalid_token")
    })
  )

  it.effect("refreshes wait for their turn, too", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      yield* half
      const refreshes = yield* started(3, who.call("POST", "/v1/auth/refresh"))
      yield* soMany(refreshes, 1)
      yield* arrive()
      assert.strictEqual(refreshes.filter(isAnswered).length, 1)
      for (const { status } of yield* inTurn(refreshes)) assert.strictEqual(status, 200)
    })
  )

  it.effect("a refresh does not wait for the calls of its session", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      yield* half
      const calls = yield* started(5, who.call("GET", "/v1/api-keys"))
      yield* soMany(calls, 1)
      assert.strictEqual((yield* who.call("POST", "/v1/auth/refresh")).status, 200)
      assert.strictEqual(calls.filter(isAnswered).length, 1)
      yield* Fiber.interruptAll(calls)
    })
  )

  it.effect("the sessions of a person do not wait for the API keys of that person", () =>
    Effect.gen(function* () {
      const { read, who } = yield* busyKey
      const calls = yield* started(10, read)
      for (let turn = 0; turn < 500; turn++) yield* nextTurn
      assert.strictEqual((yield* who.call("GET", "/v1/api-keys")).status, 200)
      assert.isFalse(calls.some(isAnswered))
      yield* Fiber.interruptAll(calls)
    })
  )

  it.effect("calls of a session that has ended wait for their turn, and do not count as failures", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      yield* half
      const headers = { "x-forwarded-for": "198.51.100.8" }
      assert.strictEqual((yield* who.call("POST", "/v1/auth/logout")).status, 204)
      const calls = yield* started(3, who.call("GET", "/v1/regions", { headers }))
      yield* soMany(calls, 1)
      yield* arrive()
      assert.strictEqual(calls.filter(isAnswered).length, 1)
      for (const answer of yield* inTurn(calls)) {
        assert.strictEqual(answer.status, 401)
        assert.isUndefined(answer.headers["ratelimit"])
      }
    })
  )
})
