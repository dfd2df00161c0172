import { assert, describe, it } from "@effect/vitest"
import { canonicalAddress, clientAddress } from "../src/schemas/clientAddress.ts"

describe("client addresses", () => {
  it.each([
    ["10.0.0.1", undefined, 0, "10.0.0.1"],
    ["::ffff:10.0.0.1", undefined, 0, "10.0.0.1"],
    ["fe80::1%eth0", undefined, 0, "fe80::1"],
    // Without a trusted proxy the header is ignored.
    ["10.0.0.1", "192.0.2.9", 0, "10.0.0.1"],
    ["10.0.0.1", "192.0.2.9", 1, "192.0.2.9"],
    // Counted from the right: the client may have written the first entry.
    ["10.0.0.1", "6.6.6.6, 192.0.2.9", 1, "192.0.2.9"],
    ["10.0.0.1", "6.6.6.6, 192.0.2.9, 10.0.0.2", 2, "192.0.2.9"],
    ["10.0.0.1", "6.6.6.6,192.0.2.9,10.0.0.2", 2, "192.0.2.9"],
    // Fewer entries than hops: the leftmost was written by a trusted proxy.
    ["10.0.0.1", "192.0.2.9", 3, "192.0.2.9"],
    ["10.0.0.1", undefined, 2, "10.0.0.1"],
    ["10.0.0.1", "", 1, "10.0.0.1"],
    // Unreadable: nothing before it is trusted.
    ["10.0.0.1", "192.0.2.9, unknown", 2, "10.0.0.1"],
    ["10.0.0.1", "6.6.6.6, 192.0.2.9:4711", 1, "192.0.2.9"],
    ["10.0.0.1", "[2001:DB8::9]:4711", 1, "2001:db8::9"],
    ["10.0.0.1", "2001:db8:0:0::9", 1, "2001:db8::9"],
    ["10.0.0.1", "::ffff:192.0.2.9", 1, "192.0.2.9"],
    ["10.0.0.1", "192.0.2.0/24", 1, "10.0.0.1"],
    ["10.0.0.1", "010.0.0.9", 1, "10.0.0.1"],
    [undefined, undefined, 0, null],
    [undefined, "192.0.2.9", 1, "192.0.2.9"]
  ] as const)(
    "the client address of socket %s, X-Forwarded-For %j and %i trusted hops is %s",
    (socket, forwarded, hops, address) => {
      assert.strictEqual(clientAddress(socket, forwarded, hops), address)
    }
  )

  it("an address has one canonical spelling", () => {
    assert.strictEqual(canonicalAddress("2001:0DB8::0001"), canonicalAddress("2001:db8::1"))
    assert.isNull(canonicalAddress("example.com"))
    assert.isNull(canonicalAddress(undefined))
  })
})
