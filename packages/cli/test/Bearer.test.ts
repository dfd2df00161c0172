import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { type BearerInputs, chooseBearer } from "../src/connection/Bearer.ts"
import type { StoredContext } from "../src/contexts/StoredContexts.ts"

const home = "https://api.example"

const context = (secret: string, url = home): StoredContext => ({
  url,
  secret: Redacted.make(secret),
  key: { id: `key-${secret}`, name: "cli", expires_at: null },
  user: null,
  organization: null
})

const stored: BearerInputs["stored"] = {
  version: 1,
  current: "current",
  contexts: { current: context("of-current"), acme: context("of-acme"), team: context("of-team") }
}
const none: BearerInputs = {
  flag: undefined,
  environment: undefined,
  variable: undefined,
  stored,
  url: undefined,
  defaultUrl: "http://127.0.0.1:4400"
}
const environment = { variable: "NARTHEX_API_KEY", secret: Redacted.make("of-environment") } as const

const secretOf = (inputs: Partial<BearerInputs>): string =>
  Result.match(chooseBearer({ ...none, ...inputs }), {
    onFailure: (failure) => failure.message,
    onSuccess: ({ secret }) => Redacted.value(secret)
  })

/** Which of --context, NARTHEX_API_KEY and NARTHEX_CONTEXT are set. There is always a current context. */
const precedence: ReadonlyArray<readonly [flag: boolean, key: boolean, variable: boolean, expected: string]> = [
  [false, false, false, "of-current"],
  [false, false, true, "of-team"],
  [false, true, false, "of-environment"],
  [false, true, true, "of-environment"],
  [true, false, false, "of-acme"],
  [true, false, true, "of-acme"],
  [true, true, false, "of-acme"],
  [true, true, true, "of-acme"]
]

describe("chooseBearer", () => {
  for (const [flag, key, variable, expected] of precedence)
    it(`the bearer is ${expected} with --context ${flag}, NARTHEX_API_KEY ${key}, NARTHEX_CONTEXT ${variable}`, () => {
      assert.strictEqual(
        secretOf({
          flag: flag ? "acme" : undefined,
          environment: key ? environment : undefined,
          variable: variable ? "team" : undefined
        }),
        expected
      )
    })

  it("a missing context has no fallback", () => {
    assert.strictEqual(secretOf({ flag: "gone", environment }), 'There is no context "gone".')
    assert.strictEqual(secretOf({ variable: "gone" }), 'There is no context "gone".')
    assert.strictEqual(secretOf({ flag: "toString" }), 'There is no context "toString".')
  })

  it("the error distinguishes no stored context from no current context", () => {
    assert.strictEqual(secretOf({ stored: { ...stored, current: null } }), "There is no current context.")
    assert.strictEqual(secretOf({ stored: { version: 1, current: null, contexts: {} } }), "You are not signed in.")
  })

  it("a stored key is sent only to the server that issued it", () => {
    assert.match(secretOf({ url: "https://evil.example" }), /belongs to https:\/\/api\.example/)
    assert.match(secretOf({ url: "http://127.0.0.1:4400" }), /belongs to/)
    assert.strictEqual(secretOf({ url: home }), "of-current")
  })

  it("all servers on loopback count as the same, whatever their port", () => {
    const local = { version: 1, current: "a", contexts: { a: context("of-a", "http://127.0.0.1:4400") } } as const
    const found = chooseBearer({ ...none, stored: local, url: "http://localhost:5500" })
    assert.strictEqual(Result.getOrThrow(found).url, "http://localhost:5500")
  })

  it("a credential from the environment is sent to NARTHEX_URL, or to the default server", () => {
    const urlOf = (url: string | undefined) => Result.getOrThrow(chooseBearer({ ...none, environment, url })).url
    assert.strictEqual(urlOf("https://elsewhere.example"), "https://elsewhere.example")
    assert.strictEqual(urlOf(undefined), "http://127.0.0.1:4400")
  })
})
