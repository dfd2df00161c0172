/** JSON as the parts of the OpenAPI document pass it to each other. */
export type Json = Readonly<Record<string, unknown>>

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The members of an object; none of anything else. */
export const membersOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  isJson(value) ? Object.entries(value) : []

export const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)
