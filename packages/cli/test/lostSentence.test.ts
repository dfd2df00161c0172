import { assert, describe, it } from "@effect/vitest"
import { lostSentence } from "../src/failures/lostSentence.ts"

describe("why a stream was lost", () => {
  it("causes are sentences, and the texts of errors are not shown", () => {
    assert.strictEqual(lostSentence("silence"), "The server was silent.")
    assert.strictEqual(lostSentence("draining"), "The server is restarting.")
    assert.strictEqual(lostSentence("status 503"), "The server answered with status 503.")
    assert.strictEqual(lostSentence("too_many_streams"), "The server closed the stream: too_many_streams.")
    assert.strictEqual(lostSentence("constructor"), "The server closed the stream: constructor.")
    for (const cause of ["Decode error (200 GET http://127.0.0.1:1/v1/events)", "Transport error: fetch failed", ""])
      assert.strictEqual(lostSentence(cause), "The connection was cut.")
  })
})
