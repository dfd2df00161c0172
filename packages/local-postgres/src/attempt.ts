/** A promise of the platform as an effect: what it rejects with becomes the reason of a `LocalPostgresError`. */
import { Effect } from "effect"
import { LocalPostgresError } from "./LocalPostgresError.ts"

export const attempt = <A>(operation: string, run: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new LocalPostgresError({ operation, reason: reasonOf(cause) }) })

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))
