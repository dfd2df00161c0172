/** The start of a proxy: how long it waits for its control plane, and what ends the wait. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, References, Result } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { controlPlaneAnswers, watchControlPlane } from "../src/controlPlaneAnswers.ts"

const secret = "proxy-token-of-the-test"

/** A control plane that is watched and answers with `status`, and the reason why the proxy is not ready after a time. */
const watched = Effect.gen(function* () {
  const answers = { status: 200 }
  const client = HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status: answers.status })))
  )
  const unready = yield* watchControlPlane("http://api.test", Redacted.make(secret)).pipe(
    Effect.provideService(HttpClient.HttpClient, client),
    Effect.provideService(References.MinimumLogLevel, "None")
  )
  const after = (seconds: number) => Effect.andThen(TestClock.adjust(`${seconds} seconds`), unready)
  return { answers, after }
})

/** A control plane that answers with these statuses in turn, and then with the last one for good. 0: it does not answer. */
const asked = (statuses: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const calls: Array<string> = []
    const client = HttpClient.make((request) => {
      const status = statuses[Math.min(calls.length, statuses.length - 1)] ?? 500
      calls.push(`${request.url} ${request.headers["authorization"]}`)
      if (status === 0) return Effect.never
      return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status })))
    })
    const answer = controlPlaneAnswers("http://api.test", Redacted.make(secret)).pipe(
      Effect.provideService(HttpClient.HttpClient, client),
      Effect.provideService(References.MinimumLogLevel, "None"),
      Effect.result
    )
    const waiting = yield* Effect.forkChild(answer)
    yield* TestClock.adjust("29 seconds")
    const waitedFor = waiting.pollUnsafe() === undefined
    yield* TestClock.adjust("1 second")
    return { calls, result: yield* Fiber.join(waiting), waitedFor }
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

  it.effect("a proxy gives up on a control plane that accepts and does not answer after half a minute in all", () =>
    Effect.gen(function* () {
      const { result, waitedFor } = yield* asked([0])
      assert.isTrue(waitedFor)
      assert.strictEqual(
        Result.isFailure(result) ? result.failure.message : "",
        "The control plane at http://api.test does not answer: no answer in 5 seconds."
      )
    })
  )

  it.effect("a proxy gives up on a control plane that refuses it after half a minute, with the reason", () =>
    Effect.gen(function* () {
      const { calls, result, waitedFor } = yield* asked([503])
      assert.isTrue(waitedFor)
      assert.isAtLeast(calls.length, 30)
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

describe("watchControlPlane", () => {
  it.effect("a proxy is not ready from the next look on while its token is refused, and ready again afterwards", () =>
    Effect.gen(function* () {
      const { after, answers } = yield* watched
      assert.isUndefined(yield* after(11))
      answers.status = 401
      const reason = yield* after(10)
      assert.include(reason, "refuses NARTHEX_PROXY_TOKEN")
      assert.notInclude(reason, secret)
      answers.status = 200
      assert.isUndefined(yield* after(10))
    })
  )

  it.effect("a proxy stays ready for half a minute without an answer, and is not ready then until there is one", () =>
    Effect.gen(function* () {
      const { after, answers } = yield* watched
      yield* after(1)
      answers.status = 503
      assert.isUndefined(yield* after(28))
      assert.include(yield* after(5), "does not answer: status 503")
      answers.status = 200
      assert.isUndefined(yield* after(10))
    })
  )
})
