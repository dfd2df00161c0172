/**
 * A model of the core as a table: the columns are the members of its wire form, so nothing is mapped by hand.
 *
 * A record is written whole, as one JSON parameter that Postgres spreads over the columns (`jsonb_populate_record`). It
 * is read through the model's schema, which ignores other columns of the row. This file builds no statements: each is
 * written out where it is used.
 *
 * Pitfall: adding a member to a model without a migration. Its column must exist before this code runs, or writes fail.
 */
import { StorageError } from "@narthex/core"
import { Array as Arrays, Effect, type Option, Schema } from "effect"
import type { Pipeline } from "../driver/pipelining.ts"
import type { Database } from "./Database.ts"

type Model = Schema.Codec<unknown, unknown> & { readonly fields: Schema.Struct.Fields }

/**
 * JSON for a parameter. A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD, as the driver does in plain strings.
 */
export const json = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === "string" ? part.toWellFormed() : part))

/** A row in wire form: instants as ISO text. Rows are read on each request, so this makes one object and nothing else. */
const wireRow = (row: object): object => {
  const wire: Record<string, unknown> = { ...row }
  for (const name of Object.keys(wire)) {
    const value = wire[name]
    if (value instanceof Date) wire[name] = value.toISOString()
  }
  return wire
}

const failing = (operation: string) => (cause: unknown) => new StorageError({ operation, cause })

/**
 * Runs statements and decodes their rows by a schema. A row that does not fit fails as `StorageError`.
 *
 * `pipeline` is that of `Database.query`. `under` names a member of the schema that has the columns of the row itself, for a
 * model among others: a model that is made from decoded columns would be validated twice.
 */
export const reading = <A, I>(
  database: Database["Service"],
  schema: Schema.Codec<A, I>,
  { pipeline, under }: { readonly pipeline?: Pipeline; readonly under?: string } = {}
) => {
  const decodeAll = Schema.decodeUnknownEffect(Schema.Array(schema))
  const encoded = (row: object): object => {
    const wire = wireRow(row)
    return under === undefined ? wire : { ...wire, [under]: wire }
  }
  const decode = (operation: string, rows: ReadonlyArray<object>): Effect.Effect<ReadonlyArray<A>, StorageError> =>
    Effect.mapError(decodeAll(rows.map(encoded)), failing(operation))
  const all = (
    operation: string,
    text: string,
    params: ReadonlyArray<unknown>
  ): Effect.Effect<ReadonlyArray<A>, StorageError> =>
    Effect.flatMap(database.query(operation, text, params, pipeline), (rows) => decode(operation, rows))
  const first = (
    operation: string,
    text: string,
    params: ReadonlyArray<unknown>
  ): Effect.Effect<Option.Option<A>, StorageError> => Effect.map(all(operation, text, params), Arrays.head)
  return { all, first, decode }
}

/** `reading` for a model, and the fragments that statements need to write its records. */
export const tableOf = <M extends Model>(database: Database["Service"], name: string, model: M) => {
  const members = Object.keys(model.fields).map((member) => `"${member}"`)
  const list = (prefix: string) => members.map((member) => prefix + member).join(", ")
  const encode = Schema.encodeEffect(model)
  return {
    ...reading<M["Type"], M["Encoded"]>(database, model),
    /** `insert into … (…)`, to be followed by a query that begins with `record("$1")`. */
    insertInto: `insert into narthex.${name} (${list("")})`,
    /** `select … from` the record in a parameter, as a row named `record`. */
    record: (parameter: string) =>
      `select ${list("record.")} from jsonb_populate_record(null::narthex.${name}, ${parameter}) as record`,
    /** `set …` of an update, to the record in a parameter. */
    setTo: (parameter: string) =>
      `set (${list("")}) = (select ${list("record.")} from jsonb_populate_record(null::narthex.${name}, ${parameter}) as record)`,
    /** `set …` of an upsert. */
    setExcluded: `set (${list("")}) = row (${list("excluded.")})`,
    /** Runs a statement whose `$1` is a record; returns its rows undecoded. */
    write: <Row extends object>(
      operation: string,
      value: M["Type"],
      text: string,
      params: ReadonlyArray<unknown> = []
    ): Effect.Effect<ReadonlyArray<Row>, StorageError> =>
      encode(value).pipe(
        Effect.mapError(failing(operation)),
        Effect.flatMap((record) => database.query<Row>(operation, text, [json(record), ...params]))
      )
  }
}
