import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { MessageWalker } from "../../src/wire/MessageWalker.ts"

const message = (type: number, body: Uint8Array) => {
  const head = Buffer.alloc(5)
  head[0] = type
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

const Message = Schema.Tuple([Schema.Int.check(Schema.isBetween({ minimum: 65, maximum: 90 })), Schema.Uint8Array])
const Sizes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 })))
const wanted = (type: number) => type % 2 === 0

describe("MessageWalker", () => {
  it.effect.prop(
    "messages and boundaries do not depend on where chunks end",
    [Schema.Array(Message), Sizes],
    ([messages, sizes]) =>
      Effect.sync(() => {
        const seen: Array<[number, string]> = []
        const walker = new MessageWalker({
          wants: wanted,
          message: (type, body) => seen.push([type, body.toString("hex")])
        })
        const ends = new Set<number>([0])
        const bytes = Buffer.concat(messages.map(([type, body]) => message(type, body)))
        let end = 0
        for (const [, body] of messages) {
          end += 5 + body.length
          ends.add(end)
        }
        let at = 0
        for (const size of [...sizes, bytes.length]) {
          walker.walk(bytes.subarray(at, at + size))
          at = Math.min(bytes.length, at + size)
          assert.strictEqual(walker.atBoundary, ends.has(at))
        }
        assert.deepStrictEqual(
          seen,
          messages.map(([type, body]) => [type, wanted(type) ? Buffer.from(body).toString("hex") : ""])
        )
      }),
    { arbitrary: { runs: 300 } }
  )

  it("walkToBoundary returns the end of the current message", () => {
    const walker = new MessageWalker({ wants: () => false, message: () => {} })
    const bytes = Buffer.concat([message(68, Buffer.alloc(10)), message(67, Buffer.alloc(3))])
    walker.walk(bytes.subarray(0, 7))
    assert.strictEqual(walker.walkToBoundary(bytes.subarray(7, 9)), -1)
    assert.strictEqual(walker.walkToBoundary(bytes.subarray(9)), 6)
  })

  it("there is no boundary after an invalid length", () => {
    const walker = new MessageWalker({ wants: () => false, message: () => {} })
    walker.walk(Buffer.from([90, 0, 0, 0, 3, 0, 0, 0]))
    assert.isFalse(walker.atBoundary)
    assert.strictEqual(walker.walkToBoundary(message(90, Buffer.alloc(1))), -1)
  })
})
