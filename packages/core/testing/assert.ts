/**
 * The assertions of contracts. They need no runner: a failure is an `Error` with `actual` and `expected`, from which
 * runners print a difference.
 */
import { Equal, Formatter } from "effect"

/** A contract does not hold. */
export class AssertionError extends Error {
  override readonly name = "AssertionError"
  readonly actual: unknown
  readonly expected: unknown
  constructor(message: string, actual: unknown, expected: unknown) {
    super(message)
    this.actual = actual
    this.expected = expected
  }
}

const own = (value: object) =>
  Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))

/**
 * Equal in structure and class: records of the same members, sequences of the same elements, values that compare
 * themselves, as `DateTime` and `Redacted` do. A member that is `undefined` is not an absent one.
 *
 * Pitfall: `Equal.equals` of records. It ignores their class, so a row that an adapter did not decode would pass, and
 * it remembers its answers, so a list that grows stays equal to what it was.
 */
const same = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]))
  if (Equal.isEqual(a) || a instanceof Date || ArrayBuffer.isView(a)) return Equal.equals(a, b)
  if (a instanceof Map && b instanceof Map) return same([...a], [...b])
  if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((item) => b.has(item))
  const keys = own(a)
  return (
    keys.length === own(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same(Reflect.get(a, key), Reflect.get(b, key)))
  )
}

const fail: (message: string, actual?: unknown, expected?: unknown) => never = (message, actual, expected) => {
  throw new AssertionError(message, actual, expected)
}

const shown = (value: unknown) => Formatter.format(value)

/** A demand on two values, with the sentence between them when it is not met. */
const demand =
  <A, B>(met: (actual: A, expected: B) => boolean, sentence: string) =>
  (actual: A, expected: B, message?: string): void => {
    if (met(actual, expected)) return
    const said = `${shown(actual)} ${sentence} ${shown(expected)}`
    fail(message === undefined ? said : `${message}: ${said}`, actual, expected)
  }

const contains = (actual: unknown, expected: unknown): boolean => {
  if (Array.isArray(actual)) return actual.some((item) => same(item, expected))
  if (typeof actual !== "object" || actual === null || typeof expected !== "object" || expected === null) return false
  return own(expected).every((key) => same(Reflect.get(actual, key), Reflect.get(expected, key)))
}

const sameMembers = (actual: ReadonlyArray<unknown>, expected: ReadonlyArray<unknown>): boolean => {
  const left = [...expected]
  return (
    actual.length === left.length &&
    actual.every((item) => {
      const at = left.findIndex((other) => same(item, other))
      if (at >= 0) left.splice(at, 1)
      return at >= 0
    })
  )
}

const is = (expected: boolean) => (actual: boolean, message?: string) =>
  demand(Object.is, "is not")(actual, expected, message)

/** The demands that contracts make. Names and arguments are those of Chai's `assert`. */
export const assert = {
  fail: (message: string): never => fail(message),
  isTrue: is(true),
  isFalse: is(false),
  isNull: (actual: unknown) => demand(Object.is, "is not")(actual, null),
  isNotNull: (actual: unknown) => demand((a, b) => !Object.is(a, b), "is")(actual, null),
  strictEqual: demand<unknown, unknown>(Object.is, "is not"),
  notStrictEqual: demand<unknown, unknown>((a, b) => !Object.is(a, b), "is"),
  deepStrictEqual: demand<unknown, unknown>(same, "does not equal"),
  lengthOf: demand<ReadonlyArray<unknown>, number>((a, length) => a.length === length, "does not have the length"),
  sameMembers: demand(sameMembers, "does not have the members of"),
  /** A list contains the item; a record has these members. */
  deepInclude: demand<unknown, unknown>(contains, "does not contain"),
  notDeepInclude: demand<unknown, unknown>((a, b) => !contains(a, b), "contains"),
  isAbove: demand<number, number>((a, b) => a > b, "is not above"),
  isBelow: demand<number, number>((a, b) => a < b, "is not below"),
  isAtLeast: demand<number, number>((a, b) => a >= b, "is less than"),
  isAtMost: demand<number, number>((a, b) => a <= b, "is more than"),
  match: demand<string, RegExp>((text, pattern) => pattern.test(text), "does not match")
}
