/**
 * Members that a published schema does not have. The schemas are functions which read every member that they know, so a
 * member that they have not read is unknown. The server would remove it without a word.
 */
import { type Fields, isFields, type Json } from "./json.ts"

/** Validates `this`; throws if it does not fit. */
export type Validate = (this: Fields) => void

const keyOf = (path: ReadonlyArray<string>) => path.join(".")

const recorded = (value: Json, path: ReadonlyArray<string>, seen: Set<string>): Json => {
  if (typeof value !== "object" || value === null) return value
  return new Proxy(value, {
    get(target: Fields | ReadonlyArray<Json>, name, receiver) {
      const inner: unknown = Reflect.get(target, name, receiver)
      if (typeof name !== "string" || !Object.hasOwn(target, name)) return inner
      seen.add(keyOf([...path, name]))
      return isJson(inner) ? recorded(inner, [...path, name], seen) : inner
    }
  })
}

const isJson = (value: unknown): value is Json => value !== undefined && typeof value !== "function"

const members = (value: Json, path: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [[...path, name], ...members(inner, [...path, name])])
}

/** Validates an object and returns the paths that the schema does not know, metadata excepted. */
export const unknownMembers = (object: Fields, validate: Validate): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const watched = recorded(object, [], seen)
  if (isFields(watched)) validate.call(watched)
  return members(object, [])
    .filter((path) => path[0] !== "metadata" && path.length > 1 && !seen.has(keyOf(path)))
    .map(keyOf)
}
