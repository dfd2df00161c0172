/**
 * Compares the options of the client and of its calls with their types, for programs that no compiler has checked
 * (docs/design/client.md L9). A wrong option would be ignored, or look like a server that cannot be reached.
 *
 * Pitfall: testing a signal with `instanceof`. A signal of another realm, as in test runners, is no instance of this
 * realm's `AbortSignal`.
 */
import { Predicate, Result, Schema } from "effect"
import type { NarthexError } from "../../problems/NarthexError.ts"
import { isSegment } from "./endpoints.ts"
import { invalidInput } from "./invalidInput.ts"

const expecting = (expected: string, is: (value: unknown) => boolean) =>
  Schema.Unknown.pipe(Schema.check(Schema.makeFilter(is, { expected })), Schema.optional)

const hasFunctions = (value: object, ...names: ReadonlyArray<string>) =>
  names.every((name) => Predicate.isFunction(Reflect.get(value, name)))

const isSignal = (value: unknown) =>
  Predicate.hasProperty(value, "aborted") &&
  Predicate.isBoolean(value.aborted) &&
  hasFunctions(value, "addEventListener", "removeEventListener")

/** A `Headers` has no members of its own: none of its headers would be sent. */
const isRecord = (value: unknown): value is object =>
  Predicate.isObject(value) && !Array.isArray(value) && !hasFunctions(value, "forEach")

/** RFC 9110, 5.5 and 5.6.2. */
const isHeader = ([name, text]: readonly [string, unknown]) =>
  /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && Predicate.isString(text) && /^[\t\x20-\x7e\x80-\xff]*$/.test(text)

const isBaseUrl = (value: unknown) => {
  // Browsers and their workers resolve a path, and text that is empty, against the page.
  const { location } = globalThis as { readonly location?: { readonly href?: string } }
  const url = Predicate.isString(value) ? URL.parse(value, location?.href) : null
  return url !== null && /^https?:$/.test(url.protocol)
}

const isCredential = (value: unknown) =>
  Predicate.isString(value) || (Predicate.hasProperty(value, "access_token") && Predicate.isString(value.access_token))

const bound = expecting("a number of milliseconds from 0", (value) => Predicate.isNumber(value) && value >= 0)
const headers = expecting("an object with names and texts of headers", isRecord).pipe(
  Schema.check(
    Schema.makeFilter((value) =>
      isRecord(value)
        ? Object.entries(value)
            .filter((header) => !isHeader(header))
            .map(([name]) => ({ path: [name], issue: "Expected a name and a text that a header can have" }))
        : undefined
    )
  )
)
const signal = expecting("an AbortSignal", isSignal)
const text = expecting("text", Predicate.isString)

/** Pitfall: an id of dots. URL libraries fold `.` and `..`, so the request would reach another path. */
const id = Schema.String.pipe(Schema.check(Schema.makeFilter(isSegment, { expected: "an id" })))

const Retries = Schema.Struct({
  times: expecting("a whole number from 0", (value) =>
    Number.isInteger(value) ? Number(value) >= 0 : value === Number.POSITIVE_INFINITY
  ),
  delay: bound,
  attempt: bound,
  within: bound
})

const retrying = { expected: "false or an object with times, delay, attempt, within" }

const Client = Schema.Struct({
  baseUrl: Schema.Unknown.pipe(
    Schema.check(Schema.makeFilter(isBaseUrl, { expected: "an http or https URL such as https://api.narthex.example" }))
  ),
  credential: expecting("an API key, a session token, or a session", isCredential),
  onRefresh: expecting("a function", Predicate.isFunction),
  headers,
  retries: Schema.optional(Schema.Union([Schema.Literal(false), Retries]).annotate(retrying)).annotate(retrying),
  fetch: expecting("a function of a Request", Predicate.isFunction)
})

const Call = Schema.Struct({ signal, idempotencyKey: text, credential: text, headers })

const Follow = Schema.Struct({
  after: text,
  // `undefined` is more likely a forgotten id, and would deliver what happens in every project.
  project_id: Schema.optionalKey(id),
  types: expecting(
    "an array of text",
    (value) => Array.isArray(value) && Array.from<unknown>(value).every(Predicate.isString)
  ),
  signal,
  heartbeat: expecting("a number of milliseconds above 0", (value) => Number.isFinite(value) && Number(value) > 0)
})

const Wait = Schema.Struct({ signal, timeout: bound })

const Awaited = Schema.Struct({ id, project_id: id })

const checking = (
  name: string,
  schema: Schema.Codec<unknown, unknown>,
  onExcessProperty: "error" | "ignore" = "error"
) => {
  const decode = Schema.decodeUnknownResult(schema, { onExcessProperty })
  return (value: unknown): NarthexError | undefined => {
    try {
      if (!Predicate.isObject(value) || Array.isArray(value)) return invalidInput(`${name}: Expected an object.`)
      return Result.match(decode(value), { onFailure: (error) => invalidInput(error), onSuccess: () => undefined })
    } catch {
      return invalidInput(`${name}: Reading a member failed. Pass plain values.`)
    }
  }
}

/** The problem with the options of a client; `undefined`: none. */
export const problemOfClient = checking("options", Client)
/** The same for a call, */
export const problemOfCall = checking("options", Call)
/** for a subscription, */
export const problemOfFollow = checking("options", Follow)
/** for a wait, */
export const problemOfWait = checking("options", Wait)
/** and for the operation that is waited for: the whole record, or its ids. */
export const problemOfAwaited = checking("operation", Awaited, "ignore")
