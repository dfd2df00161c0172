/**
 * The forms of values that a host passes, for programs whose arguments no compiler has checked: what belongs to a form,
 * and the sentence about a value that does not. Sentences name members and types, never values, which may be secret.
 */
import { Predicate } from "effect"

/** A form, with its name as it reads after "expected". */
export interface Form {
  readonly name: string
  readonly has: (value: unknown) => boolean
  /** What is wrong with the parts of a value of this form. */
  readonly inside?: (path: string, value: unknown) => string | undefined
  /** Whether a member of this form may be left out. */
  readonly absent?: true
}

export const text: Form = { name: "text", has: Predicate.isString }
export const someText: Form = { name: "text that is not empty", has: (it) => Predicate.isString(it) && it !== "" }
export const flag: Form = { name: "true or false", has: Predicate.isBoolean }
export const anything: Form = { name: "a value", has: () => true }
export const aFunction: Form = { name: "a function", has: Predicate.isFunction }
/** Pitfall: `every` on the array itself. It leaves out holes, which are read as `undefined` later. */
export const everyOf = (it: unknown, has: (item: unknown) => boolean): boolean =>
  Array.isArray(it) && Array.from<unknown>(it).every(has)
export const texts: Form = { name: "an array of text", has: (it) => everyOf(it, Predicate.isString) }
const isWhole = (it: unknown, least: number) =>
  Predicate.isNumber(it) && it >= least && (Number.isInteger(it) || it === Number.POSITIVE_INFINITY)
/** A number that counts; `Infinity` is no limit. */
export const count: Form = { name: "a whole number from 0", has: (it) => isWhole(it, 0) }
export const wholeFrom1: Form = { name: "a whole number from 1", has: (it) => isWhole(it, 1) }
export const percent: Form = {
  name: "a whole number from 1 to 100",
  has: (it) => isWhole(it, 1) && Number(it) <= 100
}
/** A bound in milliseconds; `Infinity` is none. */
export const bound: Form = { name: "a number from 0", has: (it) => Predicate.isNumber(it) && it >= 0 }
/** What a header can have (RFC 9110 §5.5; `fetch` takes no characters beyond U+00FF). */
export const headerText: Form = {
  name: "text that a header can have, such as ASCII",
  has: (it) => Predicate.isString(it) && /^[\t\x20-\x7e\x80-\xff]*$/.test(it)
}
export const milliseconds: Form = {
  name: "a number of milliseconds from 0",
  has: (it) => Predicate.isNumber(it) && it >= 0 && Number.isFinite(it)
}
const hasFunctions = (it: unknown, names: ReadonlyArray<string>): it is object =>
  Predicate.isObject(it) && names.every((name) => Predicate.isFunction(Reflect.get(it, name)))
/** An object with these methods: it may be of another realm, or a framework's own. */
export const withMethods = (name: string, ...methods: ReadonlyArray<string>): Form => ({
  name,
  has: (it) => hasFunctions(it, methods)
})
/** By its members: a signal may be of another realm. */
export const signal: Form = {
  name: "an AbortSignal",
  has: (it) =>
    hasFunctions(it, ["addEventListener", "removeEventListener"]) && "aborted" in it && Predicate.isBoolean(it.aborted)
}
/** A record: no array, and no instance of a class without members of its own, such as `Map`. */
export const record: Form = {
  name: "an object",
  has: (it) => {
    if (!Predicate.isObject(it) || Array.isArray(it)) return false
    const prototype: unknown = Object.getPrototypeOf(it)
    // The literals of another realm have another `Object.prototype`.
    const literal = prototype === null || Object.getPrototypeOf(prototype) === null
    return literal || Object.keys(it).length > 0
  }
}

export const oneOf = (...values: ReadonlyArray<string>): Form => ({
  name: values.map((value) => `"${value}"`).join(" or "),
  has: (it) => values.some((value) => value === it)
})

export const either = (one: Form, other: Form): Form => ({
  name: `${one.name} or ${other.name}`,
  has: (it) => one.has(it) || other.has(it)
})

/** The other form says what is wrong inside: the first has no parts. */
export const orElse = (one: Form, other: Form): Form => ({
  ...either(one, other),
  inside: (path, it) => (one.has(it) ? undefined : other.inside?.(path, it))
})

export const orNull = (form: Form): Form => ({
  name: `${form.name} or null`,
  has: (it) => it === null || form.has(it),
  inside: (path, it) => (it === null ? undefined : form.inside?.(path, it))
})

/** May be left out, and `undefined` counts as left out. */
export const optional = (form: Form): Form => ({
  name: form.name,
  absent: true,
  has: (it) => it === undefined || form.has(it),
  inside: (path, it) => (it === undefined ? undefined : form.inside?.(path, it))
})

/** May be left out. `undefined` is refused where it is more likely a mistake, and what is left out means more. */
export const leftOut = (form: Form): Form => ({ ...form, absent: true })

export const nameOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  if (Number.isNaN(value)) return "NaN"
  return value === undefined ? "undefined" : `a ${typeof value}`.replace(/^a object/, "an object")
}

/** What looking at a value finds. A getter or a proxy may throw, whose error may have the value. */
export const reading = (path: string, look: () => string | undefined): string | undefined => {
  try {
    return look()
  } catch {
    return `${path}: reading it failed. Pass plain values.`
  }
}

/** What is wrong with a value, as a sentence that begins with `path`; `undefined`: nothing. */
export const problemOf = (path: string, value: unknown, form: Form): string | undefined =>
  reading(path, () =>
    form.has(value) ? form.inside?.(path, value) : `${path}: expected ${form.name}, not ${valueName(value, form)}.`
  )

/** A value whose type is right is not named: "a number from 0, not a number" says nothing. */
const valueName = (value: unknown, { name }: Form) => {
  const type = nameOf(value)
  return name.startsWith(type) ? "this one" : type
}

export type Members<A> = { readonly [Name in keyof Required<A>]: Form }

/** The same for an object with these members and no others: a misspelt member would be ignored. */
export const problemOfMembers = <A>(path: string, value: unknown, members: Members<A>): string | undefined =>
  reading(path, () => {
    const names = Object.keys(members)
    if (!record.has(value)) return `${path}: expected an object with ${names.join(", ")}, not ${nameOf(value)}.`
    // A record, whose members are looked at one by one.
    const given = value as Readonly<Record<string, unknown>>
    const unknown = Object.keys(given).find((name) => !Object.hasOwn(members, name))
    if (unknown !== undefined)
      return `${path}.${unknown}: there is no such member. The members are ${names.join(", ")}.`
    for (const [name, form] of Object.entries<Form>(members)) {
      if (form.absent === true && !(name in given)) continue
      const at = `${path}.${name}`
      const problem = reading(at, () => problemOf(at, given[name], form))
      if (problem !== undefined) return problem
    }
    return undefined
  })

export const objectOf = <A>(members: Members<A>): Form => ({
  ...record,
  inside: (path, value) => problemOfMembers(path, value, members)
})

/** An object whose members have names of the host's own choice. */
export const recordOf = (form: Form): Form => ({
  ...record,
  inside: (path, value) => {
    // A record, whose members are looked at one by one.
    for (const [name, member] of Object.entries(value as Readonly<Record<string, unknown>>)) {
      const problem = problemOf(`${path}.${name}`, member, form)
      if (problem !== undefined) return problem
    }
    return undefined
  }
})
