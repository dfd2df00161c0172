/** Refusals are decoded as the contract declares them, and cost nothing before the first one arrives. */
import { assert, describe, it } from "@effect/vitest"
import { NotFoundProblem } from "@narthex/api"
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import type { ApiCalls } from "../../src/client/ApiCalls.ts"
import { type AnyCall, makeClient } from "../../src/client/makeClient.ts"

/** An error whose schema counts how often it is read. */
const counted = () => {
  class Refused extends Schema.Error<Refused>("Refused")(
    { code: Schema.tag("not_found"), why: Schema.String },
    { httpApiStatus: 404 }
  ) {}
  const { ast } = Refused
  let reads = 0
  Object.defineProperty(Refused, "ast", {
    get: () => {
      reads += 1
      return ast
    }
  })
  return { Refused, reads: () => reads }
}

/** The call of a contract with one endpoint, whose middleware may refuse; answered by these responses in turn. */
const calling = (error: Schema.Top, answers: ReadonlyArray<() => Response>) => {
  class Checks extends HttpApiMiddleware.Service<Checks>()("@narthex/api/test/Checks", { error }) {}
  const contract = HttpApi.make("test").add(
    HttpApiGroup.make("things")
      .add(HttpApiEndpoint.get("read", "/things", { success: Schema.Struct({ name: Schema.String }) }))
      .middleware(Checks)
  )
  let turn = 0
  const http = HttpClient.make((request) =>
    Effect.sync(() => HttpClientResponse.fromWeb(request, answers[turn++ % answers.length]?.() ?? Response.error()))
  )
  let call: AnyCall | undefined
  const making = makeClient({ baseUrl: "http://api.test", retries: false }, (make) => {
    call = make(contract, "things", "read")
    // The calls of the test's own contract.
    return { things: { read: call } } as unknown as ApiCalls
  })
  return Effect.map(Effect.provideService(making, HttpClient.HttpClient, http), () => call ?? (() => Effect.void))
}

const json = (status: number, body: unknown) => () => Response.json(body, { status })

describe("refusals of a call", () => {
  it.effect("the schemas of errors are read by the first refusal, not before", () =>
    Effect.gen(function* () {
      const { Refused, reads } = counted()
      const call = yield* calling(Refused, [
        json(200, { name: "shop" }),
        json(404, { code: "not_found", title: "Not found.", why: "gone" }),
        json(200, { name: "shop" })
      ])
      assert.deepStrictEqual(yield* call(), { name: "shop" })
      assert.strictEqual(reads(), 0)
      const refused = yield* Effect.flip(call())
      assert.instanceOf(refused, Refused)
      assert.include(refused, { why: "gone" })
      assert.isAbove(reads(), 0)
      assert.deepStrictEqual(yield* call(), { name: "shop" })
    })
  )

  it.effect("a known problem that the call does not declare does not decode", () =>
    Effect.gen(function* () {
      const call = yield* calling(NotFoundProblem, [json(409, { code: "conflict", title: "Conflict.", status: 409 })])
      assert.include(yield* Effect.flip(call()), { _tag: "HttpClientError" })
    })
  )

  it.effect("an answer that does not decode is no refusal", () =>
    Effect.gen(function* () {
      const call = yield* calling(NotFoundProblem, [json(200, { name: 1 }), json(202, {})])
      assert.include(yield* Effect.flip(call()), { _tag: "SchemaError" })
      assert.include(yield* Effect.flip(call()), { _tag: "HttpClientError" })
    })
  )
})
