/**
 * Tables of documents: a key, and a record of the core as JSON. SQLite reads members with `doc ->> 'name'` and indexes
 * such expressions (`schema.ts`), and the schemas of the core turn rows into instances of its classes.
 *
 * Instants are ISO texts of one length, so texts sort as instants do.
 */
import { type PageRequest, StorageError } from "@narthex/core"
import { Effect, Option, Schema } from "effect"
import { Sqlite, type Value } from "./Sqlite.ts"

/**
 * `condition` is SQL over `id` and `doc`, with parameters `?1…` for `values`; it may go on with an order and a limit.
 */
export const documents = <Row, Encoded>(table: string, schema: Schema.Codec<Row, Encoded>) =>
  Effect.map(Sqlite, ({ query, run }) => {
    const Text = Schema.fromJsonString(schema)
    const [encode, decode] = [Schema.encodeEffect(Text), Schema.decodeUnknownEffect(Text)]
    const coded = Effect.mapError((cause: unknown) =>
      cause instanceof StorageError ? cause : new StorageError({ operation: table, cause })
    )

    const where = (condition: string, ...values: ReadonlyArray<Value>) =>
      query(`select doc from ${table} where ${condition}`, ...values).pipe(
        Effect.flatMap((rows) => Effect.forEach(rows, ({ doc }) => decode(doc))),
        coded
      )
    const one = (condition: string, ...values: ReadonlyArray<Value>) =>
      Effect.map(where(`${condition} limit 1`, ...values), ([row]) => Option.fromUndefinedOr(row))
    const get = (id: string) => one("id = ?1", id)
    /** The rows of a page and one more, in the order of their ids. */
    const page =
      (order: "asc" | "desc") =>
      ({ after, limit }: PageRequest, condition: string, ...values: ReadonlyArray<Value>) => {
        const [id, count] = [`?${values.length + 1}`, `?${values.length + 2}`]
        const beyond = `(${id} is null or id ${order === "asc" ? ">" : "<"} ${id})`
        return where(`(${condition}) and ${beyond} order by id ${order} limit ${count}`, ...values, after, limit + 1)
      }
    const put = (id: string, row: Row) =>
      encode(row).pipe(
        Effect.flatMap((doc) =>
          run(
            `insert into ${table} (id, doc) values (?1, ?2) on conflict (id) do update set doc = excluded.doc`,
            id,
            doc
          )
        ),
        Effect.asVoid,
        coded
      )

    return {
      where,
      one,
      get,
      put,
      oldestFirst: page("asc"),
      newestFirst: page("desc"),
      exists: (condition: string, ...values: ReadonlyArray<Value>) =>
        Effect.map(one(condition, ...values), Option.isSome),
      /** Replaces the row of this key, if it exists. */
      change: (id: string, edit: (row: Row) => Row) =>
        Effect.flatMap(get(id), Option.match({ onNone: () => Effect.void, onSome: (row) => put(id, edit(row)) })),
      /** Returns how many rows were removed. */
      remove: (condition: string, ...values: ReadonlyArray<Value>) =>
        run(`delete from ${table} where ${condition}`, ...values)
    }
  })
