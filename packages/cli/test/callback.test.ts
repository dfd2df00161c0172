import { assert, describe, it } from "@effect/vitest"
import { readCallback, readPasted } from "../src/login/callback.ts"

const state = "s".repeat(43)
const redirect = "http://127.0.0.1:43210/callback"

describe("callback", () => {
  it("a redirect with the state of the login and a code is a code", () => {
    assert.deepStrictEqual(readCallback(`/callback?code=c&state=${state}`, state), { _tag: "Code", code: "c" })
  })

  it("a redirect with the state of the login and an error is a refusal", () => {
    assert.deepStrictEqual(readCallback(`/callback?error=access_denied&state=${state}`, state), {
      _tag: "Refused",
      error: "access_denied"
    })
  })

  it("a redirect with another state, path or repeated parameter is ignored", () => {
    const others = [
      "/callback",
      "/callback?code=c",
      `/callback?code=c&state=${state}x`,
      "/callback?code=c&state=",
      `/callback?code=c&state=${state}&state=${state}`,
      `/callback?code=a&code=b&state=${state}`,
      `/callback?code=&state=${state}`,
      `/callback?state=${state}`,
      `/callback/?code=c&state=${state}`,
      `/other?code=c&state=${state}`,
      "/favicon.ico"
    ]
    for (const target of others) assert.isUndefined(readCallback(target, state), target)
  })

  it("a pasted URL may have surrounding blanks and a fragment", () => {
    const pasted = `  ${redirect}?code=c&state=${state}#_=_ \n`
    assert.deepStrictEqual(readPasted(pasted, redirect, state), { _tag: "Code", code: "c" })
  })

  it("a pasted URL of another login is ignored", () => {
    assert.isUndefined(readPasted(`http://127.0.0.1:1234/callback?code=c&state=${state}`, redirect, state))
    assert.isUndefined(readPasted(`http://127.0.0.1:43210.evil/callback?code=c&state=${state}`, redirect, state))
    assert.isUndefined(readPasted(`${redirect}?code=c&state=other`, redirect, state))
    assert.isUndefined(readPasted("c", redirect, state))
  })
})
