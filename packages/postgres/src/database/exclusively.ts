/**
 * Runs work in a transaction that no other with the same name enters before it ends: for what an index alone cannot say
 * without failing, since a failed statement takes the whole transaction with it.
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
