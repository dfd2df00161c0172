import { assert, describe, it } from "@effect/vitest"
import { ByteQueue } from "../../src/wire/ByteQueue.ts"
import { proxyHeaderOf, takeProxyHeader } from "../../src/wire/ProxyHeader.ts"

const signature = [...Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1")]
const v4 = [...signature, 0x21, 0x11, 0, 12, 198, 51, 100, 7, 127, 0, 0, 1, 0, 1, 0, 2]
const v6 = (source: ReadonlyArray<number>) => [...signature, 0x21, 0x21, 0, 36, ...source, ...Array(20).fill(0)]

const take = (bytes: ReadonlyArray<number>) => {
  const queue = new ByteQueue()
  queue.push(Buffer.from(bytes))
  const header = takeProxyHeader(queue)
  return { header: header?._tag === "Proxied" ? header.source.text : header?._tag, rest: queue.length }
}

describe("takeProxyHeader", () => {
  it("a PROXY header names an IPv4 or IPv6 client, and a mapped address as IPv4", () => {
    assert.strictEqual(take(v4).header, "198.51.100.7")
    assert.strictEqual(take(v6([0x20, 1, 0x0d, 0xb8, ...Array(11).fill(0), 1])).header, "2001:db8::1")
    assert.strictEqual(take(v6([...Array(10).fill(0), 255, 255, 203, 0, 113, 9])).header, "203.0.113.9")
  })

  it("the header that is made for a client names this client, and there is none for another text", () => {
    for (const client of ["198.51.100.7", "2001:db8::1"])
      assert.deepStrictEqual(take([...(proxyHeaderOf(client) ?? [])]), { header: client, rest: 0 })
    assert.deepStrictEqual(take([...(proxyHeaderOf("::ffff:203.0.113.9") ?? [])]).header, "203.0.113.9")
    assert.isUndefined(proxyHeaderOf("nobody"))
  })

  it("a PROXY header is taken with its extensions, and no bytes after it", () => {
    const carrying = [...signature, 0x21, 0x11, 0, 15, ...v4.slice(16), 1, 2, 3]
    assert.deepStrictEqual(take([...carrying, 9, 9]), { header: "198.51.100.7", rest: 2 })
  })

  it("an incomplete PROXY header is not taken", () => {
    for (let size = 0; size < v4.length; size++) assert.isUndefined(take(v4.slice(0, size)).header)
  })

  it("a PROXY header of the load balancer itself is local", () => {
    assert.strictEqual(take([...signature, 0x20, 0, 0, 0]).header, "Local")
  })

  it.each([
    ["another signature", [0, 0, 0, 8]],
    ["version 1", [...Buffer.from("PROXY TCP4 ")]],
    ["another version", [...signature, 0x31, 0x11, 0, 12]],
    ["another command", [...signature, 0x22, 0x11, 0, 12]],
    ["no address", [...signature, 0x21, 0x00, 0, 0]],
    ["UDP", [...signature, 0x21, 0x12, 0, 12, ...v4.slice(16)]],
    ["an address cut short", [...signature, 0x21, 0x11, 0, 4, 1, 2, 3, 4]],
    ["a length without end", [...signature, 0x21, 0x11, 255, 255]]
  ])("a PROXY header with %s is refused", (_, bytes) => {
    assert.strictEqual(take(bytes).header, "Refused")
  })
})
