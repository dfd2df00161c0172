/**
 * Advisory locks by name. The locks of two schemas in one database differ.
 *
 * Rules use a lock where a unique index could hold them only by failing: a failed statement aborts the whole
 * transaction.
 */
import type { StorageError } from "@narthex/core"
import { Effect } from "effect"
import type { Database } from "./Database.ts"

/** An expression that waits for the lock whose name is the SQL expression `name`, and holds it until the transaction ends. */
export const lockOf = (name: string): string =>
  `pg_advisory_xact_lock(hashtextextended(${name}, 'narthex.event_head'::regclass::oid::bigint))::text`

/** Runs work in a transaction that holds the lock until it ends. */
export const exclusively = <A, E, R>(
  { query, transaction }: Database["Service"],
  name: string,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | StorageError, R> =>
  transaction(Effect.andThen(query("exclusively", `select ${lockOf("$1")}`, [name]), work))
