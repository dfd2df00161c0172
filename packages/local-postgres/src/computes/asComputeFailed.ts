/**
 * Failures as the port declares them: a sentence for API users, and what the machine said for the operator.
 *
 * Pitfall: passing a message on. It has paths of this machine and lines of the server's log in it.
 */
import { ComputeFailed } from "@narthex/core"
import { Effect } from "effect"
import type {
  DiskShareTaken,
  ImpossibleRequest,
  LocalPostgresFailure,
  NoRoomNow
} from "../machine/LocalPostgresError.ts"

export type DriverFailure = LocalPostgresFailure | DiskShareTaken | ImpossibleRequest | NoRoomNow

export const asComputeFailed = <A, R>(effect: Effect.Effect<A, DriverFailure, R>) => Effect.mapError(effect, failureOf)

/**
 * Too many connections, no replication slot, a lock or a statement that took too long, a deadlock, and a server that stops
 * or starts: a revocation restarts it while a copy of it is made.
 */
const busyStates = new Set(["53300", "53400", "55P03", "57014", "40P01", "57P01", "57P02", "57P03"])

const outOfSpace = /no space left|disk full|ENOSPC/i

const shareTaken =
  "The disk is nearly full, and the rest is kept for organizations that have less on it: " +
  "delete branches that are not needed, or ask the operator for a larger disk."

const failureOf = (error: DriverFailure) => {
  switch (error._tag) {
    case "ImpossibleRequest":
      return new ComputeFailed({ reason: error.reason, retryable: false })
    case "DiskShareTaken":
      return new ComputeFailed({ reason: shareTaken, detail: error.message, retryable: true })
    case "NoRoomNow":
      return new ComputeFailed({ reason: error.reason, retryable: true, busy: true })
    case "LocalPostgresError": {
      const detail = error.message
      if (error.sqlstate === "53100" || outOfSpace.test(detail)) {
        return new ComputeFailed({ reason: "There is not enough free disk space.", detail, retryable: true })
      }
      if (error.busy === true || busyStates.has(error.sqlstate ?? "")) {
        const reason = "The database is busy; the work is repeated until it succeeds."
        return new ComputeFailed({ reason, detail, retryable: true, busy: true })
      }
      return new ComputeFailed({ reason: "The database server could not do this.", detail, retryable: true })
    }
    default: {
      const reason = "The database server of this branch cannot run; the operator has to repair it."
      return new ComputeFailed({ reason, detail: error.message, retryable: false })
    }
  }
}
