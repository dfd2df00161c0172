/** The start of a proxy: how long it waits for its control plane, and what ends the wait. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, References, Result } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { controlPlaneAnswers } from "../src/controlPlaneAnswers.ts"

const secret = "proxy-token-of-the-test"

/** A control plane that answers with these statuses in turn, and then with the last one for good. */
const asked = (statuses: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const calls: Array<string> = []
    const client = HttpClient.make((request) => {
      const status = statuses[Math.min(calls.length, statuses.length - 1)] ?? 500
      calls.push(`${request.url} ${request.headers["authorization"]}`)
      return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status })))
    })
    const answer = controlPlaneAnswers("http://api.test", Redacted.make(secret)).pipe(
      Effect.provideService(HttpClient.HttpClient, client),
      Effect.provideService(References.MinimumLogLevel, "None"),
      Effect.result
    )
    const waiting = yield* Effect.forkChild(answer)
    yield* TestClock.adjust("10 minutes")
    return { calls, result: yield* Fiber.join(waiting) }
  })

describe("controlPlaneAnswers", () => {
  it.effect("a proxy asks its control plane once when it is answered, with its token", () =>
    Effect.gen(function* () {
      const { calls, result } = yield* asked([200])
      assert.isTrue(Result.isSuccess(result))
      assert.deepStrictEqual(calls, [`http://api.test/v1/proxy/allowlists Bearer ${secret}`])
    })
  )

  it.effect("a proxy asks its control plane again while there is no answer", () =>
    Effect.gen(function* () {
      const { calls, result } = yield* asked([503, 502, 200])
      assert.isTrue(Result.isSuccess(result))
      assert.lengthOf(calls, 3)
    })
  )

  it.effect("a proxy gives up on its control plane after 30 more attempts, with the reason", () =>
    Effect.gen(function* () {
      const { calls, result } = yield* asked([503])
      assert.lengthOf(calls, 31)
      assert.strictEqual(
        Result.isFailure(result) ? result.failure.message : "",
        "The control plane at http://api.test does not answer: status 503."
      )
    })
  )

  it.effect("a proxy whose token is refused does not ask again, and does not print the token", () =>
    Effect.gen(function* () {
      const { calls, result } = yield* asked([503, 401])
      assert.lengthOf(calls, 2)
      const sentence = Result.isFailure(result) ? result.failure.message : ""
      assert.include(sentence, "refuses NARTHEX_PROXY_TOKEN")
      assert.notInclude(sentence, secret)
    })
  )
})
