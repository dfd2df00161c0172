/** The times of retries, on a clock that the test moves (docs/design/client.md L10–L14). */
import { assert, describe, it } from "@effect/vitest"
import { NarthexClient, type RetrySettings } from "@narthex/api"
import { type Duration, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"

type Answer = Response | "never"

const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ type: `urn:narthex:problem:${code}`, code, status, title: "No." }, { status, headers })

const organizations = () => Response.json({ organizations: [], pagination: { next_cursor: null } })
const organization = () => {
  const at = "2026-11-20T12:00:00.000Z"
  const id = "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10"
  const made = { id, name: "Team", personal: false, role: "owner", created_at: at, updated_at: at }
  return Response.json({ organization: made }, { status: 201 })
}

/** A client with these answers in their order, and the idempotency keys and times of its requests. */
const scripted = (script: ReadonlyArray<() => Answer>, retries: RetrySettings | false = {}) => {
  const keys: Array<string | undefined> = []
  const http = HttpClient.make((request) =>
    Effect.suspend(() => {
      const answer = script[Math.min(keys.length, script.length - 1)]?.() ?? "never"
      keys.push(request.headers["idempotency-key"])
      return answer === "never" ? Effect.never : Effect.succeed(HttpClientResponse.fromWeb(request, answer))
    })
  )
  const settings = { baseUrl: "http://narthex.invalid", credential: Redacted.make("nsk_x"), retries }
  const layer = NarthexClient.layer(settings).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, http)))
  return { keys, layer }
}

/** Lets the time of a call pass until it ends or the bound is reached, in steps; returns how long it took. */
const elapsed = <A, E, R>(call: Effect.Effect<A, E, R>, step: Duration.Input, most: number) =>
  Effect.gen(function* () {
    const running = yield* Effect.forkChild(Effect.exit(call))
    for (let steps = 0; steps <= most; steps++) {
      // Bodies are read by promises, which the test clock does not move.
      yield* Effect.promise(() => new Promise<void>((done) => setImmediate(() => setImmediate(done))))
      const ended = running.pollUnsafe()
      if (ended !== undefined) return { steps, exit: yield* Fiber.join(running) }
      yield* TestClock.adjust(step)
    }
    return assert.fail(`The call did not end within ${most} steps.`)
  })

describe("retries in time", () => {
  it.effect("a call that is limited waits for Retry-After and is sent again with its idempotency key", () => {
    const limited = () => problem(429, "rate_limited", { "retry-after": "20" })
    const { keys, layer } = scripted([limited, organization])
    return Effect.gen(function* () {
      const { api } = yield* NarthexClient
      const { exit, steps } = yield* elapsed(api.orgs.create({ payload: { name: "Team" } }), "1 second", 60)
      assert.isTrue(Exit.isSuccess(exit))
      assert.isAtLeast(steps, 20)
      assert.strictEqual(keys.length, 2)
      assert.strictEqual(keys[1], keys[0])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a key that another attempt holds is asked for until that attempt's lease has ended", () => {
    const held = () => problem(409, "idempotency_in_progress", { "retry-after": "1" })
    const { keys, layer } = scripted([...Array.from({ length: 12 }, () => held), organization])
    return Effect.gen(function* () {
      const { api } = yield* NarthexClient
      const { exit } = yield* elapsed(api.orgs.create({ payload: { name: "Team" } }), "1 second", 90)
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(keys.length, 13)
      assert.strictEqual(new Set(keys).size, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a call whose next pause exceeds its bound fails at once", () => {
    const { keys, layer } = scripted([() => problem(503, "unavailable", { "retry-after": "91" })])
    return Effect.gen(function* () {
      const { api } = yield* NarthexClient
      const { exit, steps } = yield* elapsed(api.orgs.list({ query: {} }), "1 second", 300)
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(keys.length, 1)
      assert.isAtMost(steps, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("an attempt without an answer ends after its bound, and the call with its own", () => {
    const { keys, layer } = scripted([() => "never"])
    return Effect.gen(function* () {
      const { api } = yield* NarthexClient
      const { exit, steps } = yield* elapsed(api.orgs.list({ query: {} }), "1 second", 100)
      assert.isTrue(Exit.isFailure(exit))
      assert.isAtLeast(steps, 60)
      assert.isAtMost(steps, 91)
      assert.isAtLeast(keys.length, 3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a call without retries is one request without a key and without a bound", () => {
    const { keys, layer } = scripted([() => "never"], false)
    return Effect.gen(function* () {
      const { api } = yield* NarthexClient
      const running = yield* Effect.forkChild(api.orgs.create({ payload: { name: "Team" } }))
      yield* Effect.promise(() => new Promise<void>((done) => setImmediate(done)))
      yield* TestClock.adjust("1 hour")
      assert.isUndefined(running.pollUnsafe())
      assert.deepStrictEqual(keys, [undefined])
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a read that succeeds is one request", () => {
    const { keys, layer } = scripted([organizations])
    return Effect.gen(function* () {
      const { api } = yield* NarthexClient
      yield* api.orgs.list({ query: {} })
      assert.deepStrictEqual(keys, [undefined])
    }).pipe(Effect.provide(layer))
  })
})
