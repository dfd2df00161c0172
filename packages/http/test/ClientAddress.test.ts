import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { clientOrigin, isToken } from "../src/ClientAddress.ts"

describe("the origin of a request", () => {
  const token = Redacted.make("console-token")
  const reported = {
    "user-agent": "console/1",
    "narthex-client-address": "::ffff:192.0.2.9",
    "narthex-client-agent": "Firefox"
  }
  const origin = (headers: Record<string, string | undefined>, console_token: typeof token | null = token) =>
    clientOrigin(
      { socket_address: "10.0.0.1", headers: { ...reported, ...headers } },
      { trusted_hops: 0, console_token }
    )

  it("the origin of a request is what the console reports, if its token is right", () => {
    assert.deepStrictEqual(origin({ "narthex-console": "console-token" }), {
      address: "192.0.2.9",
      user_agent: "Firefox"
    })
  })

  it.each([[undefined], [""], ["console-token "], ["console-tokem"], ["console-token, console-token"]])(
    "the origin of a request is the socket's with the token %j",
    (presented) => {
      assert.deepStrictEqual(origin({ "narthex-console": presented }), { address: "10.0.0.1", user_agent: "console/1" })
    }
  )

  it("the origin of a request is the socket's when no console token is set", () => {
    for (const presented of ["", "null", "console-token"]) {
      assert.strictEqual(origin({ "narthex-console": presented }, null).address, "10.0.0.1")
      assert.isFalse(isToken(presented, null))
    }
  })

  it("the origin of a request is the socket's when the console reports nothing readable", () => {
    const headers = {
      "narthex-console": "console-token",
      "narthex-client-address": "nowhere",
      "narthex-client-agent": ""
    }
    assert.deepStrictEqual(origin(headers), { address: "10.0.0.1", user_agent: "console/1" })
  })

  it("the user agent of a request is cut to 512 characters", () => {
    assert.lengthOf(origin({ "user-agent": "x".repeat(5000) }, null).user_agent ?? "", 512)
  })
})
