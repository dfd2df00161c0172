import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { canonicalAddress, clientAddress, clientOrigin, isToken } from "../src/ClientAddress.ts"

describe("the client address", () => {
  it.each([
    ["10.0.0.1", undefined, 0, "10.0.0.1"],
    ["::ffff:10.0.0.1", undefined, 0, "10.0.0.1"],
    ["fe80::1%eth0", undefined, 0, "fe80::1"],
    // What the caller typed is not believed without a hop.
    ["10.0.0.1", "192.0.2.9", 0, "10.0.0.1"],
    ["10.0.0.1", "192.0.2.9", 1, "192.0.2.9"],
    // Counted from the right: the first entry is the caller's own invention.
    ["10.0.0.1", "6.6.6.6, 192.0.2.9", 1, "192.0.2.9"],
    ["10.0.0.1", "6.6.6.6, 192.0.2.9, 10.0.0.2", 2, "192.0.2.9"],
    ["10.0.0.1", "6.6.6.6,192.0.2.9,10.0.0.2", 2, "192.0.2.9"],
    // Fewer entries than hops: the leftmost was written by a hop of ours.
    ["10.0.0.1", "192.0.2.9", 3, "192.0.2.9"],
    ["10.0.0.1", undefined, 2, "10.0.0.1"],
    ["10.0.0.1", "", 1, "10.0.0.1"],
    // Unreadable: nothing beyond it is believed.
    ["10.0.0.1", "192.0.2.9, unknown", 2, "10.0.0.1"],
    ["10.0.0.1", "6.6.6.6, 192.0.2.9:4711", 1, "192.0.2.9"],
    ["10.0.0.1", "[2001:DB8::9]:4711", 1, "2001:db8::9"],
    ["10.0.0.1", "2001:db8:0:0::9", 1, "2001:db8::9"],
    ["10.0.0.1", "::ffff:192.0.2.9", 1, "192.0.2.9"],
    ["10.0.0.1", "192.0.2.0/24", 1, "10.0.0.1"],
    ["10.0.0.1", "010.0.0.9", 1, "10.0.0.1"],
    [undefined, undefined, 0, null],
    [undefined, "192.0.2.9", 1, "192.0.2.9"]
  ] as const)("of socket %s with X-Forwarded-For %j and %i hops is %s", (socket, forwarded, hops, address) => {
    assert.strictEqual(clientAddress(socket, forwarded, hops), address)
  })

  it("has one spelling", () => {
    assert.strictEqual(canonicalAddress("2001:0DB8::0001"), canonicalAddress("2001:db8::1"))
    assert.isNull(canonicalAddress("example.com"))
    assert.isNull(canonicalAddress(undefined))
  })
})

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

  it("is what the console reports, when it proves itself", () => {
    assert.deepStrictEqual(origin({ "narthex-console": "console-token" }), {
      address: "192.0.2.9",
      user_agent: "Firefox"
    })
  })

  it.each([[undefined], [""], ["console-token "], ["console-tokem"], ["console-token, console-token"]])(
    "is the socket's with the token %j",
    (presented) => {
      assert.deepStrictEqual(origin({ "narthex-console": presented }), { address: "10.0.0.1", user_agent: "console/1" })
    }
  )

  it("is the socket's for everybody where there is no token", () => {
    for (const presented of ["", "null", "console-token"]) {
      assert.strictEqual(origin({ "narthex-console": presented }, null).address, "10.0.0.1")
      assert.isFalse(isToken(presented, null))
    }
  })

  it("is the socket's where the console reports nothing that can be read", () => {
    const headers = {
      "narthex-console": "console-token",
      "narthex-client-address": "nowhere",
      "narthex-client-agent": ""
    }
    assert.deepStrictEqual(origin(headers), { address: "10.0.0.1", user_agent: "console/1" })
  })

  it("keeps the agent short", () => {
    assert.lengthOf(origin({ "user-agent": "x".repeat(5000) }, null).user_agent ?? "", 512)
  })
})
