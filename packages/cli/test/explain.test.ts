import { assert, describe, it } from "@effect/vitest"
import { isProblemCode, OtherProblem, problemCatalog, problems, StreamRefused } from "@narthex/api"
import { explain } from "../src/failures/explain.ts"
import { Declined, NotSignedIn, Stopped, UsageMistake } from "../src/failures/LocalFailure.ts"
import { hintOf } from "../src/failures/problemHints.ts"
import { failureText } from "../src/output/failureText.ts"

const signedOut = ["unauthenticated", "invalid_token", "token_expired", "sign_in_required"]

describe("explain", () => {
  for (const [code, { status }] of Object.entries(problemCatalog))
    it(`the problem ${code} exits with ${signedOut.includes(code) ? 4 : 1}`, () => {
      if (!isProblemCode(code)) return assert.fail(code)
      const problem = new problems[code]({ detail: "what happened", request_id: "req_1" })
      const explained = explain(problem)
      assert.strictEqual(explained.exit, signedOut.includes(code) ? "signed_out" : "failed")
      assert.strictEqual(explained.sentence, "what happened")
      assert.strictEqual(explained.code, code)
      assert.strictEqual(explained.request_id, "req_1")
      assert.deepInclude(explained.json, { code, status, detail: "what happened", request_id: "req_1" })
    })

  it("every problem on which a user at a terminal can act has a hint", () => {
    const silent = Object.keys(problemCatalog).filter((code) => hintOf(code) === undefined)
    assert.deepStrictEqual(silent, [
      "malformed_request",
      "address_not_listed",
      "method_not_allowed",
      "not_acceptable",
      "conflict",
      "idempotency_conflict",
      "body_too_large",
      "unsupported_media_type",
      "invalid_request"
    ])
  })

  it("an unknown problem code has no hint", () => {
    assert.isUndefined(hintOf("toString"))
    assert.isUndefined(hintOf("made_by_a_newer_server"))
  })

  it("an unknown problem is shown with its code and title", () => {
    const explained = explain(new OtherProblem({ status: 418, code: "teapot", title: "Short and stout." }))
    assert.deepInclude(explained, { sentence: "Short and stout.", exit: "failed", code: "teapot" })
    assert.deepStrictEqual(explained.json, { status: 418, code: "teapot", title: "Short and stout." })
  })

  it("a response that is not the API's says so, and names the variable of the address", () => {
    const answers = [
      new OtherProblem({ status: 404, code: "unknown", title: "The server answered with status 404." }),
      new OtherProblem({ status: 503, code: "unknown", title: "The server answered with status 503." }),
      new StreamRefused({ status: 200, code: "not_an_event_stream", detail: "The answer is not an event stream." })
    ]
    for (const answer of answers) {
      const { exit, hint, sentence } = explain(answer)
      assert.strictEqual(sentence, `The server's response with status ${answer.status} is not one of the Narthex API.`)
      assert.include(hint, "NARTHEX_URL")
      assert.strictEqual(exit, "failed")
    }
  })

  it("a stream refused with 401 exits as signed out", () => {
    assert.strictEqual(
      explain(new StreamRefused({ status: 401, code: "invalid_token", detail: "No." })).exit,
      "signed_out"
    )
    assert.strictEqual(explain(new StreamRefused({ status: 403, code: "not_a_member", detail: "No." })).exit, "failed")
  })

  it("a question that was answered with no is not an error", () => {
    const explained = explain(new Declined({ message: "Nothing was changed." }))
    assert.deepInclude(explained, { exit: "declined", json: { code: "declined", detail: "Nothing was changed." } })
    assert.strictEqual(failureText(explained, "table", true), "Nothing was changed.")
  })

  it("a usage mistake, a stopped command and a missing login have different exit codes", () => {
    assert.strictEqual(explain(new UsageMistake({ message: "m" })).exit, "usage")
    assert.strictEqual(explain(new Stopped({ message: "m" })).exit, "failed")
    assert.strictEqual(explain(new NotSignedIn({ message: "m", hint: "narthex login" })).exit, "signed_out")
  })
})
