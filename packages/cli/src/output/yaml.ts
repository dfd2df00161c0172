/**
 * JSON data as YAML 1.2, in block style.
 *
 * A string is written plain only if neither YAML 1.1 nor 1.2 can read it as another type (`no`, `1e3`, `0x1`, `_0`,
 * `2026-01-01`). All others are double-quoted scalars; JSON's string syntax is a subset of theirs.
 */

const plain = /^[A-Za-z/][A-Za-z0-9_./@+-]*( [A-Za-z0-9_./@+-]+)*$/
const reserved = /^(y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$/i
/** Characters that JSON leaves as they are and YAML does not allow, and invisible ones. */
const unprintable = /[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

const text = (value: string): string =>
  plain.test(value) && !reserved.test(value) ? value : JSON.stringify(value).replace(unprintable, escaped)

type Collection = ReadonlyArray<unknown> | Readonly<Record<string, unknown>>

const isCollection = (value: unknown): value is Collection => typeof value === "object" && value !== null

const isList = (value: Collection): value is ReadonlyArray<unknown> => Array.isArray(value)

const isEmpty = (value: Collection) => Object.keys(value).length === 0

const scalar = (value: unknown): string => {
  if (isCollection(value)) return isList(value) ? "[]" : "{}"
  return typeof value === "string" ? text(value) : (JSON.stringify(value) ?? "null")
}

const members = (value: Readonly<Record<string, unknown>>) =>
  Object.entries(value).filter(([, member]) => member !== undefined)

const lines = (value: unknown): ReadonlyArray<string> => {
  if (!isCollection(value) || isEmpty(value)) return [scalar(value)]
  return isList(value) ? value.flatMap(item) : members(value).flatMap(([key, member]) => entry(key, member))
}

const indented = (line: string) => `  ${line}`

/** A list inside a list starts on a new line, because some parsers reject `- - x`. */
const item = (value: unknown): ReadonlyArray<string> => {
  const [first = "", ...rest] = lines(value)
  return isCollection(value) && isList(value) && !isEmpty(value)
    ? ["-", ...[first, ...rest].map(indented)]
    : [`- ${first}`, ...rest.map(indented)]
}

const entry = (key: string, value: unknown): ReadonlyArray<string> =>
  isCollection(value) && !isEmpty(value)
    ? [`${text(key)}:`, ...lines(value).map(indented)]
    : [`${text(key)}: ${scalar(value)}`]

/** One document, without `---` and without a trailing line feed. */
export const toYaml = (value: unknown): string => lines(value).join("\n")
