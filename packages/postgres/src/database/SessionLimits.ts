/**
 * The limits that the server holds the store's sessions to. They end what a session would otherwise wait for without
 * end, or hold without end: a lock of an operator's psql, and the locks of a process that stopped inside a transaction.
 *
 * A direct connection gets them as session defaults when it starts. Behind a pooler, which refuses such parameters and
 * may give each transaction another session, each transaction sets them for itself; a single statement there has the
 * client's limit alone (`StatementLimit`).
 *
 * Pitfall: running migrations under them. A migration waits for another instance's, however long that takes.
 */
import { Duration } from "effect"

export interface SessionLimits {
  /** How long a statement waits for one lock. */
  readonly lock_timeout: Duration.Input
  /** How long a statement runs. Longer than the client's limit, which cancels first while the client lives. */
  readonly statement_timeout: Duration.Input
  /** How long a transaction may be idle between two statements. Then the server ends the session. */
  readonly idle_in_transaction_session_timeout: Duration.Input
}

export const defaultSessionLimits: SessionLimits = {
  lock_timeout: "15 seconds",
  statement_timeout: "35 seconds",
  idle_in_transaction_session_timeout: "60 seconds"
}

/** Each limit by its name in Postgres, in milliseconds. */
export const parametersOf = (limits: SessionLimits): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, String(Math.ceil(Duration.toMillis(limit)))]))

/** The statement that sets parameters for the running transaction. */
export const settingLocally = (parameters: Readonly<Record<string, string>>): string =>
  `select ${Object.entries(parameters)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(", ")}`

/** No limits, for the running transaction. */
export const unlimited = settingLocally(
  parametersOf({ lock_timeout: 0, statement_timeout: 0, idle_in_transaction_session_timeout: 0 })
)
