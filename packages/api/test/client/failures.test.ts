/** The table of the client's own failures, and the parts of retries that are pure. Holds docs/design/client.md L13. */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { clientFailures, isProblemCode } from "@narthex/api"
import { pauseBefore, verdictOn } from "../../src/client/retries.ts"

describe("failures of the client", () => {
  it("docs/design/client.md lists the codes of the client, which are none of the server's", () => {
    const page = readFileSync(resolve(import.meta.dirname, "../../../../docs/design/client.md"), "utf8")
    const listed = [...page.matchAll(/^ +\| `(\w+)` \|/gm)].map(([, code]) => code)
    assert.deepStrictEqual(listed, Object.keys(clientFailures))
    assert.deepStrictEqual(Object.keys(clientFailures).filter(isProblemCode), [])
  })

  it("every failure of the client says what happened and what to do", () => {
    for (const { next, title } of Object.values(clientFailures))
      for (const sentence of [title, next]) assert.match(sentence, /^[A-Z].*\.$/s)
  })

  it("a failure is final unless it may pass", () => {
    const verdict = (status: number | undefined, code?: string) => verdictOn({ status, code, retryAfter: undefined })
    for (const status of [undefined, 408, 425, 429, 502, 503, 504]) assert.strictEqual(verdict(status), "again")
    for (const status of [400, 401, 403, 404, 409, 422, 423, 500]) assert.strictEqual(verdict(status), "final")
    assert.strictEqual(verdict(409, "idempotency_in_progress"), "wait")
    assert.strictEqual(verdict(409, "idempotency_conflict"), "final")
  })

  it("pauses double up to five seconds, have jitter, and are never shorter than Retry-After", () => {
    const longest = Array.from({ length: 8 }, (_, pauses) => pauseBefore(200, pauses, undefined, 1))
    assert.deepStrictEqual(longest, [200, 400, 800, 1600, 3200, 5000, 5000, 5000])
    assert.deepStrictEqual([pauseBefore(200, 0, undefined, 0), pauseBefore(200, 9, 7000, 0)], [100, 7000])
  })
})
