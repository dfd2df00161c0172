/**
 * Statements on a Postgres server that the operator runs, over the operator's admin URL.
 *
 * Pitfall: the `search_path` of the admin. Writers can make functions in `public` that match a call better than those of
 * Postgres do, and the admin would run them. Each transaction sets its own, because the URL may lead through a pooler,
 * which takes no startup parameters and may give each transaction another session.
 */
import type { StorageError } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Layer, type Redacted } from "effect"

const pinned = "set local search_path = pg_catalog, pg_temp"

/** The rows of a statement. */
export const ask = <Row extends object>(operation: string, text: string, params: ReadonlyArray<unknown> = []) =>
  Effect.flatMap(Database, ({ query, transaction }) =>
    transaction(Effect.andThen(query(operation, pinned), query<Row>(operation, text, params)))
  )

/** Statements in one transaction that waits for no lock longer than half a second. */
export const together = (statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    yield* transaction(
      Effect.forEach(
        [pinned, "set local lock_timeout = '500ms'", "set local statement_timeout = '5s'", ...statements],
        (text) => query("StaticRoles.change", text),
        { discard: true }
      )
    )
  })

/** Runs work on the server of the admin URL, over connections that end with it. */
export const onServer = <A, E>(
  url: Redacted.Redacted,
  work: Effect.Effect<A, E, Database>
): Effect.Effect<A, E | StorageError> =>
  Effect.provide(
    work,
    Layer.fresh(Database.layer({ url, maxConnections: 2, listenUrl: "off", applicationName: "narthex supervisor" }))
  )
