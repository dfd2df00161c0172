/**
 * Parameters and values as Postgres writes them in text, and as JSON.
 *
 * Text has every type, also those that only one database knows. A number that JSON cannot hold exactly stays text.
 */
import { OID } from "@effect/sql-pg/PgTypes"

/** A value of a parameter. Objects and arrays are sent as JSON. */
export type Parameter = string | number | boolean | null | object

export const textOf = (value: Parameter): string | null => {
  if (value === null) return null
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

const names = new Map<number, string>(
  Object.entries(OID).map(([name, oid]) => [oid, name.endsWith("Array") ? `${name.slice(0, -5)}[]` : name])
)

/** The name of a type; the number of one that is not built in. */
export const typeName = (oid: number): string => names.get(oid) ?? `type ${oid}`

const exactNumber = (text: string): number | string => {
  const number = Number(text)
  return Number.isFinite(number) && !(Number.isInteger(number) && !Number.isSafeInteger(number)) ? number : text
}

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const readers = new Map<number, (text: string) => unknown>([
  [OID.bool, (text) => text === "t"],
  ...[OID.int2, OID.int4, OID.int8, OID.oid, OID.float4, OID.float8].map((oid) => [oid, exactNumber] as const),
  [OID.json, json],
  [OID.jsonb, json]
])

/** The value of a column of this type as JSON. */
export const valueOf = (oid: number, text: string): unknown => (readers.get(oid) ?? ((same) => same))(text)
