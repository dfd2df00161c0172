import { assert, describe, it } from "@effect/vitest"
import { NarthexClient, RateLimitedProblem } from "@narthex/api"
import { Effect } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

/** The call that lists regions, answered by this response. */
const answered = (status: number, body: unknown) => {
  const http = HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(body, { status })))
  )
  return NarthexClient.use(({ api }) => api.regions.list()).pipe(
    Effect.provide(NarthexClient.layer({ baseUrl: "http://api.test", retries: false })),
    Effect.provideService(HttpClient.HttpClient, http)
  )
}

describe("refusals of a call", () => {
  it.effect("a problem that the call declares is an instance of its class", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(
        answered(429, {
          type: "urn:narthex:problem:rate_limited",
          code: "rate_limited",
          title: "Too many requests.",
          retry_after_ms: 5
        })
      )
      assert.instanceOf(refused, RateLimitedProblem)
      assert.include(refused, { retry_after_ms: 5 })
    })
  )

  it.effect("a known problem that the call does not declare does not decode", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(answered(409, { code: "conflict", title: "Conflict.", status: 409 }))
      assert.include(refused, { _tag: "HttpClientError" })
    })
  )

  it.effect("an answer that does not decode is no refusal", () =>
    Effect.gen(function* () {
      assert.include(yield* Effect.flip(answered(200, { regions: 1 })), { _tag: "SchemaError" })
      assert.include(yield* Effect.flip(answered(202, {})), { _tag: "HttpClientError" })
    })
  )
})
