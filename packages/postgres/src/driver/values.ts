/**
 * Codecs that differ from the driver's defaults: int8 is read as a number, and JSON parameters are marked as JSON (an
 * unmarked array becomes a Postgres array).
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Result } from "effect"

/** A value beyond 2^53 fails: as a number it would silently lose digits. */
const int8: PgTypes.Codec<number | bigint> = {
  encode: (value) => {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setBigInt64(0, BigInt(value))
    return Result.succeed(bytes)
  },
  decode: (bytes) => {
    const value = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0))
    return Number.isSafeInteger(value)
      ? Result.succeed(value)
      : Result.fail(new PgTypes.CodecError({ message: "A bigint is too large for a number: cast it to text." }))
  }
}

const registry = PgTypes.makeRegistry()
registry.register(PgTypes.OID.int8, int8)

export const types: PgTypes.Registry = registry

/** A parameter that is sent as JSON: `query("…", "insert … values ($1)", [jsonb({ a: 1 })])`. */
export const jsonb = (value: unknown): unknown => PgTypes.jsonb(value)
