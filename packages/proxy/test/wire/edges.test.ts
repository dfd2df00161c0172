/** Boundary cases of what a client may send: lengths, versions and keys. */
import { assert, describe, it } from "@effect/vitest"
import { ByteQueue } from "../../src/wire/ByteQueue.ts"
import { MessageWalker } from "../../src/wire/MessageWalker.ts"
import { takeProxyHeader } from "../../src/wire/ProxyHeader.ts"
import { takeFirstPacket } from "../../src/wire/startup.ts"

const queueOf = (bytes: Uint8Array) => {
  const queue = new ByteQueue()
  queue.push(Buffer.from(bytes))
  return queue
}

/** A complete startup packet. */
const packet = (major: number, minor: number, body: Buffer) => {
  const bytes = Buffer.concat([Buffer.alloc(8), body])
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeUInt16BE(major, 4)
  bytes.writeUInt16BE(minor, 6)
  return bytes
}
const startup = (body: string, major = 3) => takeFirstPacket(queueOf(packet(major, 0, Buffer.from(body, "latin1"))))

describe("takeFirstPacket", () => {
  it("a startup packet has at most ten thousand bytes", () => {
    const body = (size: number) => `user\0${"x".repeat(size - 8 - 7)}\0\0`
    assert.strictEqual(startup(body(10_000))?._tag, "Startup")
    assert.strictEqual(startup(body(10_001))?._tag, "Garbage")
  })

  it("older and newer major versions are reported as unsupported", () => {
    for (const major of [2, 4])
      assert.deepStrictEqual(startup("user\0x\0\0", major), { _tag: "UnsupportedProtocol", major, minor: 0 })
  })

  it("every parameter of a startup packet must have a name", () => {
    assert.strictEqual(startup("\0x\0\0")?._tag, "Malformed")
  })
})

describe("a cancel key", () => {
  it.each([8, 12, 260])("a cancel request returns its complete key of %d bytes", (size) => {
    const key = Buffer.from(Array.from({ length: size }, (_, at) => at & 255))
    const request = takeFirstPacket(queueOf(packet(1234, 5678, key)))
    assert.deepStrictEqual(request?._tag === "CancelRequest" ? [...request.key] : request, [...key])
  })
})

describe("takeProxyHeader", () => {
  const signature = [...Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1")]
  const take = (bytes: ReadonlyArray<number>) => takeProxyHeader(queueOf(Uint8Array.from(bytes)))?._tag

  it("a PROXY header with the number of version 1 is refused", () => {
    const rest = [0x11, 0, 12, 198, 51, 100, 7, 127, 0, 0, 1, 0, 1, 0, 2]
    assert.strictEqual(take([...signature, 0x21, ...rest]), "Proxied")
    assert.strictEqual(take([...signature, 0x11, ...rest]), "Refused")
  })

  it("a PROXY header too short for its addresses is refused", () => {
    const short = Array<number>(20).fill(1)
    assert.strictEqual(take([...signature, 0x21, 0x21, 0, short.length, ...short]), "Refused")
    assert.strictEqual(take([...signature, 0x21, 0x11, 0, 4, 198, 51, 100, 7]), "Refused")
  })
})

describe("MessageWalker", () => {
  const walked = (bytes: ReadonlyArray<number>) => {
    const seen: Array<number> = []
    const walker = new MessageWalker({ wants: () => true, message: (_, body) => seen.push(body.length) })
    walker.walk(Buffer.from(bytes))
    return { seen, atBoundary: walker.atBoundary }
  }

  it.each([0, 1, 2, 3])("a message length of %d, which is less than its own size, stops the walk", (length) => {
    const next = [90, 0, 0, 0, 4]
    assert.deepStrictEqual(walked([81, 0, 0, 0, length, ...next]), { seen: [], atBoundary: false })
  })

  it("a body of 1,024 bytes is collected, and a longer one is not", () => {
    const message = (size: number) => [81, 0, 0, (4 + size) >> 8, (4 + size) & 255, ...Array<number>(size).fill(7)]
    assert.deepStrictEqual(walked([...message(1_024), ...message(1_025)]), { seen: [1_024, 0], atBoundary: true })
  })
})
