/**
 * Runs work in a transaction that holds an advisory lock by name until it ends. It serves rules that a unique index
 * could hold only by failing, because a failed statement aborts the whole transaction.
 */
import type { StorageError } from "@narthex/core"
import { Effect } from "effect"
import type { Database } from "./Database.ts"

export const exclusively = <A, E, R>(
  { query, transaction }: Database["Service"],
  name: string,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | StorageError, R> =>
  transaction(
    Effect.andThen(query("exclusively", "select pg_advisory_xact_lock(hashtextextended($1, 0))::text", [name]), work)
  )
