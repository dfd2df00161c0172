import { assert, describe, it } from "@effect/vitest"
import {
  bodyOfProblem,
  ConflictProblem,
  isProblemCode,
  NotFoundProblem,
  OtherProblem,
  problemCatalog,
  problemOfBody,
  problems,
  ResourceBusyProblem
} from "@narthex/api"
import { Effect, Option, Schema } from "effect"
import { HttpServerRespondable, HttpServerResponse } from "effect/http"

const codes = Object.keys(problemCatalog).filter(isProblemCode)

const bodyOf = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.promise(() => HttpServerResponse.toWeb(response).json())

describe("problems", () => {
  for (const code of codes) {
    it.effect(`${code} answers as its row of problemCatalog says`, () =>
      Effect.gen(function* () {
        const Problem = problems[code]
        const response = yield* HttpServerRespondable.toResponse(new Problem({ detail: "why", request_id: "r-1" }))
        const { status, title } = problemCatalog[code]
        assert.strictEqual(response.status, status)
        assert.strictEqual(response.headers["content-type"], "application/problem+json")
        assert.deepStrictEqual(yield* bodyOf(response), {
          type: `urn:narthex:problem:${code}`,
          title,
          status,
          detail: "why",
          code,
          request_id: "r-1"
        })
      })
    )
  }

  it("every problem code has a class with its own type", () => {
    assert.sameMembers(Object.keys(problems), codes)
    assert.strictEqual(new Set(codes.map((code) => new problems[code]({}).type)).size, codes.length)
  })

  it("a problem has a detail only if a handler gives one, so that every 404 has the same body", () => {
    assert.deepStrictEqual(Schema.encodeSync(NotFoundProblem)(new NotFoundProblem({})), {
      type: "urn:narthex:problem:not_found",
      title: "Not found.",
      status: 404,
      code: "not_found"
    })
  })

  it("problems with the same status are distinguished by code", () => {
    const either = Schema.Union([ConflictProblem, problems.idempotency_conflict])
    const body = Schema.encodeSync(problems.idempotency_conflict)(new problems.idempotency_conflict({}))
    assert.instanceOf(Schema.decodeSync(either)(body), problems.idempotency_conflict)
  })

  it("resource_busy names the operation that blocks the branch", () => {
    const encoded = Schema.encodeSync(ResourceBusyProblem)(
      new ResourceBusyProblem({ retry_after_ms: 1500, blocking_operation_id: "op" })
    )
    assert.deepInclude(encoded, { retry_after_ms: 1500, blocking_operation_id: "op" })
  })

  it("a known problem has a body, and the body is read as the problem", () => {
    for (const code of codes) {
      const problem = new problems[code]({ detail: "why", request_id: "r-1" })
      const body = Option.getOrThrow(bodyOfProblem(problem))
      assert.deepInclude(body, { code, detail: "why", request_id: "r-1" })
      assert.deepStrictEqual(Option.getOrThrow(problemOfBody(body)), problem)
    }
  })

  it("another value has no body, and another body is no problem", () => {
    const other = new OtherProblem({ status: 404, code: "not_found", title: "Not found." })
    for (const value of [other, { code: "teapot" }, { code: 1 }, "not_found", null])
      assert.isTrue(Option.isNone(bodyOfProblem(value)), JSON.stringify(value))
    for (const body of [{ code: "not_found" }, { code: "toString" }, { code: 1 }, "not_found", null])
      assert.isTrue(Option.isNone(problemOfBody(body)), JSON.stringify(body))
  })
})
