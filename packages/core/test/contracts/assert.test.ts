/** The assertions of contracts: each passes and fails where it should. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option, Redacted } from "effect"
import { AssertionError, assert as demand } from "../../testing/assert.ts"
import { aProject } from "../../testing/records.ts"

const instant = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
const project = aProject()

const equal: ReadonlyArray<readonly [unknown, unknown]> = [
  [1, 1],
  [Number.NaN, Number.NaN],
  [{ a: [1, { b: null }] }, { a: [1, { b: null }] }],
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 }
  ],
  [instant, DateTime.makeUnsafe("2026-01-01T00:00:00Z")],
  [Option.some({ a: 1 }), Option.some({ a: 1 })],
  [project, aProject({ ...project })],
  [new Map([["a", { b: 1 }]]), new Map([["a", { b: 1 }]])],
  [new Set([1, 2]), new Set([2, 1])],
  [new Uint8Array([1, 2]), new Uint8Array([1, 2])],
  [Redacted.make("a"), Redacted.make("a")]
]

const unequal: ReadonlyArray<readonly [unknown, unknown]> = [
  [1, 2],
  [0, -0],
  [1, "1"],
  [null, undefined],
  [{ a: undefined }, {}],
  [{ a: 1 }, { a: 1, b: undefined }],
  [
    [1, 2],
    [2, 1]
  ],
  [[1], { 0: 1, length: 1 }],
  [instant, DateTime.add(instant, { milliseconds: 1 })],
  [Option.some(1), Option.none()],
  [project, { ...project }],
  [project, aProject({ ...project, name: "other" })],
  [new Map([["a", 1]]), new Map([["a", 2]])],
  [new Set([1]), new Set([2])],
  [new Uint8Array([1, 2]), new Uint8Array([1, 3])],
  [Redacted.make("a"), Redacted.make("b")]
]

/** Each assertion, once where it holds and once where it does not. */
const both: ReadonlyArray<readonly [name: keyof typeof demand, holds: () => void, fails: () => void]> = [
  ["isTrue", () => demand.isTrue(true), () => demand.isTrue(false)],
  ["isFalse", () => demand.isFalse(false), () => demand.isFalse(true)],
  ["isNull", () => demand.isNull(null), () => demand.isNull(undefined)],
  ["isNotNull", () => demand.isNotNull(0), () => demand.isNotNull(null)],
  ["strictEqual", () => demand.strictEqual("a", "a"), () => demand.strictEqual([], [])],
  ["notStrictEqual", () => demand.notStrictEqual(1, 2), () => demand.notStrictEqual(1, 1)],
  ["lengthOf", () => demand.lengthOf([1], 1), () => demand.lengthOf([1], 2)],
  ["sameMembers", () => demand.sameMembers([1, 2], [2, 1]), () => demand.sameMembers([1, 1, 2], [1, 2, 2])],
  ["sameMembers", () => demand.sameMembers([], []), () => demand.sameMembers([1], [1, 2])],
  ["deepInclude", () => demand.deepInclude([{ a: 1 }], { a: 1 }), () => demand.deepInclude([{ a: 1 }], { a: 2 })],
  ["deepInclude", () => demand.deepInclude({ a: 1, b: 2 }, { a: 1 }), () => demand.deepInclude({ a: 1 }, { b: 2 })],
  ["notDeepInclude", () => demand.notDeepInclude([{ a: 1 }], { a: 2 }), () => demand.notDeepInclude([1], 1)],
  ["isAbove", () => demand.isAbove(2, 1), () => demand.isAbove(1, 1)],
  ["isBelow", () => demand.isBelow(1, 2), () => demand.isBelow(1, 1)],
  ["isAtLeast", () => demand.isAtLeast(1, 1), () => demand.isAtLeast(0, 1)],
  ["isAtMost", () => demand.isAtMost(1, 1), () => demand.isAtMost(2, 1)],
  ["match", () => demand.match("abc", /b/), () => demand.match("abc", /d/)]
]

describe("assertions of contracts", () => {
  it("equal structures of one class are equal", () => {
    for (const [a, b] of equal) demand.deepStrictEqual(a, b)
  })

  it("values that differ in a value, a member, an order or a class are not equal, in either direction", () => {
    for (const [a, b] of unequal) {
      assert.throws(() => demand.deepStrictEqual(a, b), AssertionError)
      assert.throws(() => demand.deepStrictEqual(b, a), AssertionError)
    }
  })

  it("a list that changed since it was compared is compared again", () => {
    const [list, expected] = [[1], [1]]
    demand.deepStrictEqual(list, expected)
    list.push(2)
    assert.throws(() => demand.deepStrictEqual(list, expected), AssertionError)
  })

  it("every assertion passes where it holds and fails where it does not", () => {
    for (const [name, holds, fails] of both) {
      holds()
      assert.throws(fails, AssertionError, undefined, name)
    }
    const covered = new Set<string>(both.map(([name]) => name))
    assert.deepStrictEqual(
      Object.keys(demand).filter((name) => !covered.has(name)),
      ["fail", "deepStrictEqual"]
    )
    assert.throws(() => demand.fail("said"), "said")
  })

  it("a failure names both values, and its message", () => {
    assert.throws(
      () => demand.deepStrictEqual({ a: 1 }, { a: 2 }, "of rows"),
      'of rows: {"a":1} does not equal {"a":2}'
    )
  })
})
