/**
 * The port: sessions of a superuser on the database `postgres` of one server. A driver opens them in its own way.
 *
 * - `search_path` is `pg_catalog, pg_temp`: users own the schema `public`, and the superuser's statements must not call their
 *   functions. The statements of this package name no schema.
 * - A failed statement is not logged with its text, because some have a verifier in it.
 * - Each call has a session of its own, which ends with the call.
 */
import type { PgClient } from "@effect/sql-pg"
import { type Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"

export interface SessionLimits {
  /** How long a statement may take, as Postgres writes a duration. */
  readonly statement_timeout: string
  /** How long a statement may wait for a lock. */
  readonly lock_timeout: string
}

/** Work on roles failed for another reason than a statement. */
export class RoleWorkFailed extends Schema.TaggedError<RoleWorkFailed>()("RoleWorkFailed", {
  reason: Schema.String,
  /** The server has no time for it now; repeating it later helps. */
  busy: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return this.reason
  }
}

/** The failure of a session: the sentence for the operator, Postgres's code of the error, and whether repeating it helps. */
export interface SessionFailure {
  readonly message: string
  readonly sqlstate?: string | undefined
  readonly busy?: boolean | undefined
}

/** Runs work in a session. Left out, the limits are the driver's; every wait has one, because a tenant can hold locks. */
export type AsSuperuser<F extends SessionFailure> = <A, E>(
  use: (sql: PgClient.PgClient) => Effect.Effect<A, E | SqlError.SqlError>,
  limits?: SessionLimits
) => Effect.Effect<A, E | F>

/** The five characters with which Postgres classifies an error; `undefined` for errors of the connection itself. */
export const sqlstateOf = ({ reason: { cause } }: SqlError.SqlError) =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined
