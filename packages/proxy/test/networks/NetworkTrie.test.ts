import { assert, describe, it } from "@effect/vitest"
import { type Cidr, contains, parseCidr } from "@narthex/core"
import { Effect, Result, Schema } from "effect"
import { parseNetwork, parsePeer } from "../../src/networks/Address.ts"
import { NetworkTrie } from "../../src/networks/NetworkTrie.ts"

// Few distinct bits, so that random networks often cover random addresses.
const Byte = Schema.Literals([0, 1, 2, 127, 128, 255])
const Bytes = (count: number) => Schema.Array(Byte).check(Schema.isMinLength(count), Schema.isMaxLength(count))
const Prefix = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most }))

/** The text of a network, with the bits after its prefix cleared. */
const network = (bytes: ReadonlyArray<number>, prefix: number): Cidr => {
  const clear = bytes.map((byte, at) => byte & (0xff << (8 - Math.max(0, Math.min(8, prefix - 8 * at)))) & 0xff)
  return Result.getOrThrow(parseCidr(`${text(clear)}/${prefix}`))
}

const text = (bytes: ReadonlyArray<number>) =>
  bytes.length === 4
    ? bytes.join(".")
    : Array.from({ length: 8 }, (_, g) => (((bytes[2 * g] ?? 0) << 8) | (bytes[2 * g + 1] ?? 0)).toString(16)).join(":")

describe("NetworkTrie", () => {
  for (const [family, count, most] of [
    ["IPv4", 4, 32],
    ["IPv6", 16, 128]
  ] as const)
    it.effect.prop(
      `the trie matches the same ${family} addresses as the core's contains`,
      [Schema.Array(Schema.Tuple([Bytes(count), Prefix(most)])), Schema.Array(Bytes(count))],
      ([listed, addresses]) =>
        Effect.sync(() => {
          const cidrs = listed.map(([bytes, prefix]) => network(bytes, prefix))
          const trie = new NetworkTrie()
          for (const cidr of cidrs) {
            const parsed = parseNetwork(cidr)
            // The trie and the core treat a mapped IPv6 network as IPv4.
            if (parsed?.bytes.length === count) trie.add(parsed.bytes, parsed.prefix, 1)
          }
          for (const address of addresses) {
            const peer = parsePeer(text(address))
            if (peer?.bytes.length !== count) continue
            const covered = trie.coveredUntil(peer.bytes) > 0
            assert.strictEqual(
              covered,
              cidrs.some((cidr) => contains(cidr, peer.text)),
              `${peer.text} in ${cidrs}`
            )
          }
        }),
      { arbitrary: { runs: 500 } }
    )

  it("a trie of thousands of networks, of which some are within others, matches as each of them does", () => {
    const trie = new NetworkTrie()
    const spread = (n: number) => Math.imul(n + 1, 0x9e37_79b1) >>> 0
    const bytes = (n: number) => Uint8Array.from([24, 16, 8, 0], (shift) => (n >>> shift) & 255)
    const listed = Array.from({ length: 3_000 }, (_, n) => {
      const prefix = 12 + (n % 21)
      const network = (spread(n) >>> (32 - prefix)) * 2 ** (32 - prefix)
      return { network, prefix, until: n + 1 }
    })
    for (const { network, prefix, until } of listed) trie.add(bytes(network), prefix, until)
    for (let n = 0; n < 2_000; n++) {
      const address = n % 2 === 0 ? spread(n >> 1) : spread(n + 0x1000_0000)
      const covering = listed.filter(({ network, prefix }) => (address ^ network) >>> (32 - prefix) === 0)
      assert.strictEqual(trie.coveredUntil(bytes(address)), Math.max(0, ...covering.map(({ until }) => until)))
    }
  })

  it("a network that is added after a match is matched", () => {
    const trie = new NetworkTrie()
    const address = Uint8Array.from([192, 0, 2, 1])
    trie.add(Uint8Array.from([128, 0, 0, 0]), 1, 1)
    assert.strictEqual(trie.coveredUntil(address), 1)
    trie.add(Uint8Array.from([0, 0, 0, 0]), 0, 2)
    assert.strictEqual(trie.coveredUntil(address), 2)
  })

  it("the bits of an address that a step passes over count", () => {
    const trie = new NetworkTrie()
    const bytes = (address: string) => parsePeer(address)?.bytes ?? new Uint8Array()
    trie.add(bytes("2001:db8:0:1::"), 64, 1)
    assert.deepStrictEqual(
      ["2001:db8:0:1::1", "2001:db8:0:2::1"].map((address) => trie.coveredUntil(bytes(address))),
      [1, 0]
    )
  })

  it("the trie returns the latest expiry of the networks that cover an address", () => {
    const trie = new NetworkTrie()
    const bytes = (address: string) => parsePeer(address)?.bytes ?? new Uint8Array()
    trie.add(bytes("10.0.0.0"), 8, 100)
    trie.add(bytes("10.1.0.0"), 16, 50)
    trie.add(bytes("10.1.1.1"), 32, 70)
    trie.add(bytes("10.1.1.1"), 32, 60)
    trie.add(bytes("10.2.0.0"), 16, Number.POSITIVE_INFINITY)
    assert.deepStrictEqual(
      ["10.1.1.1", "10.2.3.4", "11.0.0.1"].map((address) => trie.coveredUntil(bytes(address))),
      [100, Number.POSITIVE_INFINITY, 0]
    )
  })
})

describe("parsePeer", () => {
  it.each([
    ["::ffff:203.0.113.9", "203.0.113.9", 4],
    ["::FFFF:cb00:7109", "203.0.113.9", 4],
    ["203.0.113.9", "203.0.113.9", 4],
    ["2001:DB8:0:0::1", "2001:db8::1", 6],
    ["fe80::1%eth0", "fe80::1", 6],
    ["::1", "::1", 6]
  ])("the peer %s is read as %s", (given, canonical, family) => {
    const peer = parsePeer(given)
    assert.deepStrictEqual([peer?.text, peer?.family, peer?.bytes.length], [canonical, family, family === 4 ? 4 : 16])
  })

  it.each(["", "localhost", "10.0.0.0/8", "010.0.0.1", "10.1", "1.2.3.4.5"])(
    "the peer %j is not an address",
    (given) => {
      assert.isUndefined(parsePeer(given))
    }
  )
})
