/** How this machine's failures look to the operation runner: a reason, and whether trying again can help. */
import { ComputeFailed } from "@narthex/core"
import { Effect } from "effect"
import type { LocalPostgresFailure } from "./LocalPostgresError.ts"

/** What no repetition changes: the request itself is wrong here. */
export const impossible = (reason: string) => Effect.fail(new ComputeFailed({ reason, retryable: false }))

export const asComputeFailed = <A, R>(
  effect: Effect.Effect<A, LocalPostgresFailure | ComputeFailed, R>
): Effect.Effect<A, ComputeFailed, R> =>
  Effect.mapError(effect, (error) =>
    error._tag === "ComputeFailed"
      ? error
      : new ComputeFailed({ reason: error.message, retryable: error._tag === "LocalPostgresError" })
  )
