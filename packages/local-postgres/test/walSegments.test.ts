/** Which WAL segments a backup needs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { walSegments } from "../src/cluster/walSegments.ts"

const size = 4 * 1024 * 1024
const of = (first: string, last: string) => walSegments({ timeline: 1, first, last, size })
const place = (bytes: number) =>
  `${Math.floor(bytes / 2 ** 32).toString(16)}/${(bytes % 2 ** 32).toString(16).toUpperCase()}`
const natural = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

describe("the segments of a stretch of the WAL", () => {
  it("are named as Postgres names them", () => {
    assert.deepStrictEqual(of("0/2000028", "0/2000100"), ["000000010000000000000008"])
    assert.deepStrictEqual(of("1/FFC00028", "2/100"), ["0000000100000001000003FF", "000000010000000200000000"])
    assert.deepStrictEqual(walSegments({ timeline: 26, first: "0/1000028", last: "0/1000100", size: 2 ** 24 }), [
      "0000001A0000000000000001"
    ])
  })

  it("have the last one also if it begins late in the first", () => {
    const both = ["000000010000000000000008", "000000010000000000000009"]
    assert.deepStrictEqual(of("0/20000D8", "0/2400050"), both)
    assert.deepStrictEqual(of("0/23FFFF0", "0/2400001"), both)
  })

  it("have no further one if it ends where one ends", () => {
    assert.deepStrictEqual(of("0/2000028", "0/2400000"), ["000000010000000000000008"])
  })

  it("are none without two places, a timeline and a size that divides, or if they are too many", () => {
    for (const [first, last] of [
      ["", "0/1"],
      ["../../x", "0/1"],
      ["0/2", "0/1"],
      ["0/1", "FFFFFFFF/0"]
    ] as const)
      assert.isUndefined(of(first, last))
    for (const size of [0, -1, 1.5, 3, 2 ** 40, Number.NaN])
      assert.isUndefined(walSegments({ timeline: 1, first: "0/1", last: "0/2", size }))
    assert.isUndefined(walSegments({ timeline: Number.NaN, first: "0/1", last: "0/2", size }))
  })

  it.effect.prop(
    "have every byte of it, and none is without one",
    [natural(2 ** 50), natural(2 ** 30)],
    ([from, length]) =>
      Effect.sync(() => {
        const names = of(place(from), place(from + length + 1)) ?? []
        const [one, end] = [Math.floor(from / size), Math.floor((from + length) / size)]
        assert.lengthOf(new Set(names), end - one + 1)
        const numberOf = (name: string) =>
          Number.parseInt(name.slice(8, 16), 16) * (2 ** 32 / size) + Number.parseInt(name.slice(16), 16)
        assert.deepStrictEqual(
          names.map(numberOf),
          names.map((_, n) => one + n)
        )
      })
  )
})
