/**
 * Parameters and values as text, for the connections of hosts, with the representations of `Database`: the driver of
 * this package has them in binary (`driver/values.ts`).
 *
 * The text is that of the server with `DateStyle` ISO, `TimeZone` UTC and `bytea_output` hex.
 */
import { isParameter, OID } from "@effect/sql-pg/PgTypes"

const arrayElement = (value: unknown): string => {
  if (Array.isArray(value)) return arrayOf(value)
  const text = textOf(value)
  return text === null ? "NULL" : `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
}

const arrayOf = (values: ReadonlyArray<unknown>): string => `{${values.map(arrayElement).join(",")}}`

const hex = (bytes: Uint8Array): string => `\\x${Array.from(bytes, (it) => it.toString(16).padStart(2, "0")).join("")}`

/** A parameter as text; its type is the one that the statement expects. */
export const textOf = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (isParameter(value)) {
    const json = value.oid === OID.jsonb || value.oid === OID.json
    return json ? JSON.stringify(value.value) : textOf(value.value)
  }
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return hex(value)
  if (Array.isArray(value)) return arrayOf(value)
  return String(value)
}

const number = (text: string): number => Number(text)

/** A value beyond 2^53 fails: as a number it would silently lose digits. */
const int8 = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error("A bigint is too large for a number: cast it to text.")
  return value
}

const bytes = (text: string): Uint8Array =>
  Uint8Array.from(text.slice(2).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

/** `2026-11-23 08:00:00.123456+00`, or without a zone, which then is UTC. */
const instant = (text: string): Date => new Date(`${text.replace(" ", "T").replace(/\+00$/, "")}Z`)

const json = (text: string): unknown => JSON.parse(text)

const scalars: Readonly<Record<number, (text: string) => unknown>> = {
  [OID.bool]: (text) => text === "t",
  [OID.bytea]: bytes,
  [OID.int8]: int8,
  [OID.int2]: number,
  [OID.int4]: number,
  [OID.oid]: number,
  [OID.float4]: number,
  [OID.float8]: number,
  [OID.json]: json,
  [OID.jsonb]: json,
  [OID.timestamp]: instant,
  [OID.timestamptz]: instant
}

const string = (text: string): string => text

const elements: Readonly<Record<number, number>> = {
  [OID.boolArray]: OID.bool,
  [OID.byteaArray]: OID.bytea,
  [OID.int8Array]: OID.int8,
  [OID.int2Array]: OID.int2,
  [OID.int4Array]: OID.int4,
  [OID.textArray]: OID.text,
  [OID.nameArray]: OID.name,
  [OID.varcharArray]: OID.varchar,
  [OID.oidArray]: OID.oid,
  [OID.float4Array]: OID.float4,
  [OID.float8Array]: OID.float8,
  [OID.jsonArray]: OID.json,
  [OID.jsonbArray]: OID.jsonb,
  [OID.timestampArray]: OID.timestamp,
  [OID.timestamptzArray]: OID.timestamptz,
  [OID.numericArray]: OID.numeric,
  [OID.uuidArray]: OID.uuid
}

/** An element in quotes, with its escapes, or one without. */
const element = /"((?:[^"\\]|\\.)*)"|([^{},"]+)/gs

/** The elements of an array of one dimension. */
const flat = (text: string, decode: (text: string) => unknown): ReadonlyArray<unknown> =>
  Array.from(text.slice(1, -1).matchAll(element), ([, quoted, bare]) => {
    if (quoted !== undefined) return decode(quoted.replaceAll(/\\(.)/gs, "$1"))
    return bare === undefined || bare === "NULL" ? null : decode(bare)
  })

/** The value of a column of this type. Types that are not listed stay text. */
export const valueOf = (oid: number, text: string | null): unknown => {
  if (text === null) return null
  const of = elements[oid]
  return of === undefined ? (scalars[oid] ?? string)(text) : flat(text, scalars[of] ?? string)
}
