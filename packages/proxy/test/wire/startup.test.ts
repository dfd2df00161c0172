import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ByteQueue } from "../../src/wire/ByteQueue.ts"
import { encodeStartup, type FirstPacket, parameter, type Startup, takeFirstPacket } from "../../src/wire/startup.ts"

/** The bytes of a packet of this size and code. */
const packet = (size: number, major: number, minor: number, body = "") => {
  const bytes = Buffer.alloc(8 + body.length)
  bytes.writeUInt32BE(size, 0)
  bytes.writeUInt16BE(major, 4)
  bytes.writeUInt16BE(minor, 6)
  bytes.write(body, 8, "latin1")
  return bytes
}

const parse = (bytes: Buffer): FirstPacket | undefined => {
  const queue = new ByteQueue()
  queue.push(bytes)
  return takeFirstPacket(queue)
}

const Text = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 255 }))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(20)
)
const latin1 = (bytes: ReadonlyArray<number>) => Buffer.from(bytes).toString("latin1")
const Parameters = Schema.Array(Schema.Tuple([Text, Text])).check(Schema.isMaxLength(20))

describe("takeFirstPacket", () => {
  it.effect.prop(
    "a startup packet is read as it was encoded, in any pieces, and no bytes after it are taken",
    [Parameters, Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })))],
    ([given, sizes]) =>
      Effect.sync(() => {
        const parameters = [...new Map(given.map(([name, value]) => [latin1(name), latin1(value)]))]
        const startup: Startup = { _tag: "Startup", version: 0x30002, parameters }
        const bytes = Buffer.concat([encodeStartup(startup), Buffer.from("behind")])
        const queue = new ByteQueue()
        let parsed: FirstPacket | undefined
        let at = 0
        for (const size of [...sizes, bytes.length]) {
          queue.push(bytes.subarray(at, at + size))
          at = Math.min(bytes.length, at + size)
          parsed ??= takeFirstPacket(queue)
        }
        assert.deepStrictEqual(parsed, startup)
        assert.strictEqual(queue.rest().toString(), "behind")
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "random parameter bytes are a startup packet or malformed",
    [Schema.Uint8Array],
    ([bytes]) =>
      Effect.sync(() => {
        const sized = Buffer.concat([packet(8 + bytes.length, 3, 0), bytes])
        const parsed = parse(sized)
        assert.include(["Startup", "Malformed"], parsed?._tag)
        if (parsed?._tag === "Startup") assert.deepStrictEqual(encodeStartup(parsed), sized)
      }),
    { arbitrary: { runs: 300 } }
  )

  it.each([
    ["Garbage", "that is too short", packet(7, 3, 0)],
    ["Garbage", "that is too long", packet(10_001, 3, 0)],
    ["UnsupportedProtocol", "of version 2", packet(9, 2, 0, "\0")],
    ["Startup", "of a future minor version", packet(9, 3, 99, "\0")],
    ["SslRequest", "with its code", packet(8, 1234, 5679)],
    ["Garbage", "with an SSL code and a body", packet(9, 1234, 5679, "x")],
    ["GssEncRequest", "with its code", packet(8, 1234, 5680)],
    ["Garbage", "with an unknown code", packet(8, 1234, 5681)],
    ["CancelRequest", "with a key of 4 bytes", packet(16, 1234, 5678, "12345678")],
    ["Garbage", "with a key of 3 bytes", packet(15, 1234, 5678, "1234567")],
    ["CancelRequest", "with a key of 256 bytes", packet(268, 1234, 5678, "k".repeat(260))],
    ["Garbage", "with a key of 257 bytes", packet(269, 1234, 5678, "k".repeat(261))],
    ["Malformed", "without a list", packet(8, 3, 0)],
    ["Malformed", "whose list does not end", packet(16, 3, 0, "user\0ap\0")],
    ["Malformed", "with a name and no value", packet(14, 3, 0, "user\0\0")],
    ["Malformed", "with bytes after its list", packet(17, 3, 0, "user\0a\0\0x")],
    ["Malformed", "whose last text does not end", packet(19, 3, 0, "user\0a\0_pq_")]
  ] as const)("takeFirstPacket returns %s for a packet %s", (tag, _, bytes) => {
    assert.strictEqual(parse(bytes)?._tag, tag)
  })

  it.each(["user", "database", "options"])("a startup packet that repeats %s is malformed", (name) => {
    const twice: Startup = {
      _tag: "Startup",
      version: 0x30000,
      parameters: [
        [name, "a"],
        [name, "a"]
      ]
    }
    assert.strictEqual(parse(encodeStartup(twice))?._tag, "Malformed")
  })

  it("other parameters may be repeated, the last value counts, and _pq_ parameters are kept", () => {
    const parameters = [
      ["_pq_.x", "1"],
      ["TimeZone", "a"],
      ["TimeZone", "b"]
    ] as const
    const startup: Startup = { _tag: "Startup", version: 0x30000, parameters }
    assert.deepStrictEqual(parse(encodeStartup(startup)), startup)
    assert.strictEqual(parameter(startup, "TimeZone"), "b")
  })

  it("an incomplete startup packet is not taken", () => {
    const bytes = encodeStartup({ _tag: "Startup", version: 0x30000, parameters: [["user", "app"]] })
    for (let size = 0; size < bytes.length; size++) assert.isUndefined(parse(bytes.subarray(0, size)))
  })
})
