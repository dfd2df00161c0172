/**
 * Schemas of what a host passes, for programs whose arguments no compiler has checked, and the sentence about a value
 * that does not fit. Sentences name members, what they expect and types, never values, which may be secret.
 */
import { Predicate, Result, Schema, type SchemaIssue } from "effect"

export type Form = Schema.Codec<unknown, unknown>

/** `expected`: the name of the form as it reads after "expected". */
export const expecting = (expected: string, is: (value: unknown) => boolean): Form =>
  Schema.Unknown.pipe(
    Schema.check(Schema.makeFilter(is, { expected })),
    Schema.annotateKey({ messageMissingKey: expected })
  )

export const text = expecting("text", Predicate.isString)
export const someText = expecting("text that is not empty", (it) => Predicate.isString(it) && it !== "")
export const flag = expecting("true or false", Predicate.isBoolean)
export const aFunction = expecting("a function", Predicate.isFunction)
/** Pitfall: `every` on the array itself. It leaves out holes, which are read as `undefined` later. */
export const everyOf = (it: unknown, is: (item: unknown) => boolean): boolean =>
  Array.isArray(it) && Array.from<unknown>(it).every(is)
export const texts = expecting("an array of text", (it) => everyOf(it, Predicate.isString))
/** Whole, or no limit: `Infinity`. */
export const isWhole = (it: unknown, least: number, most = Number.POSITIVE_INFINITY): boolean =>
  Predicate.isNumber(it) && it >= least && it <= most && (Number.isInteger(it) || it === Number.POSITIVE_INFINITY)
export const count = expecting("a whole number from 0", (it) => isWhole(it, 0))
export const wholeFrom1 = expecting("a whole number from 1", (it) => isWhole(it, 1))
export const milliseconds = expecting(
  "a number of milliseconds from 0",
  (it) => Predicate.isNumber(it) && it >= 0 && Number.isFinite(it)
)
export const hasFunctions = (it: unknown, ...names: ReadonlyArray<string>): it is object =>
  Predicate.isObject(it) && names.every((name) => Predicate.isFunction(Reflect.get(it, name)))
/** By its members: a signal may be of another realm. */
export const signal = expecting(
  "an AbortSignal",
  (it) =>
    hasFunctions(it, "addEventListener", "removeEventListener") && "aborted" in it && Predicate.isBoolean(it.aborted)
)

/** A record: no array, and no instance of a class without members of its own, such as `Map`. */
export const isRecord = (it: unknown): it is object => {
  if (!Predicate.isObject(it) || Array.isArray(it)) return false
  const prototype: unknown = Object.getPrototypeOf(it)
  // The literals of another realm have another `Object.prototype`.
  const literal = prototype === null || Object.getPrototypeOf(prototype) === null
  return literal || Object.keys(it).length > 0
}

const quoted = (values: ReadonlyArray<string>) => values.map((value) => `"${value}"`).join(" or ")
export const oneOf = (...values: ReadonlyArray<string>): Form =>
  expecting(quoted(values), (it) => values.some((value) => value === it))
export const either = (one: Form, other: Form): Form => Schema.Union([one, other])
const none = expecting("null", Predicate.isNull)
export const orNull = (form: Form): Form => either(form, none)
/** May be left out, and `undefined` counts as left out. */
export const optional = (form: Form): Form => Schema.optional(form)
/** May be left out. `undefined` is refused where it is more likely a mistake, and what is left out means more. */
export const leftOut = (form: Form): Form => Schema.optionalKey(form)
export const anything: Form = optional(Schema.Unknown)

/** A form for each member of a type. */
export type Members<A> = { readonly [Name in keyof Required<A>]: Form }

const within = (expected: string, inside: Form): Form =>
  expecting(expected, isRecord).pipe(Schema.decodeTo(inside), Schema.annotateKey({ messageMissingKey: expected }))

/** An object with these members and no others: a misspelt member would be ignored. */
export const objectOf = <A>(members: Members<A>): Form =>
  // A form for each name.
  within(`an object with ${Object.keys(members).join(", ")}`, Schema.Struct(members as Readonly<Record<string, Form>>))

/** An object whose members have names of the host's own choice. */
export const recordOf = (form: Form): Form => within("an object", Schema.Record(Schema.String, form))

export const nameOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  if (Number.isNaN(value)) return "NaN"
  return value === undefined ? "undefined" : `a ${typeof value}`.replace(/^a object/, "an object")
}

interface Wrong {
  readonly path: ReadonlyArray<PropertyKey>
  /** The expected value; or, for an unknown member, the names of the known ones. */
  readonly expected: string
  readonly isUnknown?: true
}

/** The first problem. If all alternatives fail, the problem inside one that has the outer form comes first. */
const wrongOf = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey> = []): Wrong => {
  switch (issue._tag) {
    case "Pointer":
      return wrongOf(issue.issue, [...path, ...issue.path])
    case "Encoding":
      return wrongOf(issue.issue, path)
    case "Composite":
      return wrongOf(issue.issues[0], path)
    case "AnyOf": {
      const all = issue.issues.map((it) => wrongOf(it, path))
      const inside = all.find((it) => it.path.length > path.length)
      return inside ?? { path, expected: all.map(({ expected }) => expected).join(" or ") }
    }
    case "Filter":
      return { path, expected: String(issue.filter.annotations?.expected) }
    case "MissingKey":
      return { path, expected: String(issue.annotations?.messageMissingKey) }
    case "UnexpectedKey":
      return { path, expected: namesOf(issue.ast), isUnknown: true }
    default:
      return { path, expected: "another value" }
  }
}

const namesOf = (ast: SchemaIssue.UnexpectedKey["ast"]) =>
  "propertySignatures" in ast ? ast.propertySignatures.map(({ name }) => String(name)).join(", ") : ""

/** The problem that `look` finds. A getter or a proxy may throw, and its error may have the value. */
export const reading = (path: string, look: () => string | undefined): string | undefined => {
  try {
    return look()
  } catch {
    return `${path}: reading it failed. Pass plain values.`
  }
}

/** The problem with a value, as a sentence that begins with `path`; `undefined`: none. */
export const problemOf = (path: string, value: unknown, form: Form): string | undefined =>
  reading(path, () => {
    const decoded = Schema.decodeUnknownResult(form, { onExcessProperty: "error" })(value)
    if (Result.isSuccess(decoded)) return undefined
    const { expected, isUnknown, path: inside } = wrongOf(decoded.failure.issue)
    const at = [path, ...inside.map(String)].join(".")
    if (isUnknown) return `${at}: there is no such member. The members are ${expected}.`
    const given = nameOf(inside.reduce<unknown>((it, name) => Reflect.get(Object(it), name), value))
    // "A number from 0, not a number" says nothing.
    return `${at}: expected ${expected}, not ${expected.startsWith(given) ? "this one" : given}.`
  })
