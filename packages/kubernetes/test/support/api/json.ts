/** JSON values that are never changed in place, and how to read and change them by a path. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | Fields

export interface Fields {
  readonly [member: string]: Json
}

export type Path = ReadonlyArray<string>

export const isFields = (value: Json | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value at a path; `undefined` where the path ends before. */
export const at = (value: Json | undefined, ...path: Path): Json | undefined => {
  let found = value
  for (const name of path) found = isFields(found) ? found[name] : undefined
  return found
}

/** The text at a path; empty where there is none. */
export const textAt = (value: Json | undefined, ...path: Path): string => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : ""
}

export const numberAt = (value: Json | undefined, ...path: Path): number | undefined => {
  const found = at(value, ...path)
  return typeof found === "number" ? found : undefined
}

/** The object at a path; empty where there is none. */
export const fieldsAt = (value: Json | undefined, ...path: Path): Fields => {
  const found = at(value, ...path)
  return isFields(found) ? found : {}
}

/** The list at a path; empty where there is none. */
export const listAt = (value: Json | undefined, ...path: Path): ReadonlyArray<Json> => {
  const found = at(value, ...path)
  return isList(found) ? found : []
}

// `Array.isArray` does not narrow to a list that is read-only.
const isList = (value: Json | undefined): value is ReadonlyArray<Json> => Array.isArray(value)

/** The object with another value at a path; `undefined` removes the member. */
export const withAt = (object: Fields, [name, ...rest]: Path, value: Json | undefined): Fields => {
  if (name === undefined) return object
  if (rest.length > 0) return { ...object, [name]: withAt(fieldsAt(object, name), rest, value) }
  if (value !== undefined) return { ...object, [name]: value }
  const { [name]: _, ...kept } = object
  return kept
}

/** Whether two values are the same, in any order of members. */
export const isSame = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true
  if (isList(a) && isList(b)) return a.length === b.length && a.every((it, index) => isSame(it, b[index]))
  if (!isFields(a) || !isFields(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => name in b && isSame(a[name], b[name]))
}

/** A JSON merge patch (RFC 7386): `null` removes, lists are replaced. */
export const mergePatch = (target: Json | undefined, patch: Json): Json => {
  if (!isFields(patch)) return patch
  let merged: Fields = isFields(target) ? target : {}
  for (const [name, value] of Object.entries(patch))
    merged = withAt(merged, [name], value === null ? undefined : mergePatch(merged[name], value))
  return merged
}

/** The paths of all values that are no objects, and of empty objects. Lists count as one value. */
export const leaves = (value: Json, path: Path = []): ReadonlyArray<Path> => {
  if (!isFields(value) || Object.keys(value).length === 0) return path.length === 0 ? [] : [path]
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]))
}
