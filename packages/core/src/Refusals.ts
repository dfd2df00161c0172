/** The refusals that many modules share: not found, in conflict, not authenticated, not allowed, not acceptable. */
import { Effect, Option, Schema } from "effect"

/** Foreign, deleted, malformed or never existed: one error, so that answers do not reveal which. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {}) {
  override get message() {
    return "Not found."
  }
}

/** The value that a store found, or `NotFound`. */
export const orNotFound = <A, E, R>(found: Effect.Effect<Option.Option<A>, E, R>): Effect.Effect<A, E | NotFound, R> =>
  Effect.flatMap(found, Option.match({ onNone: () => Effect.fail(new NotFound({})), onSome: Effect.succeed }))

/**
 * The name is taken, the object is in use, or its state does not allow the change. `reason` is a sentence for a person.
 */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** Unknown, malformed, revoked, expired or forged, or its user is disabled. */
export class InvalidCredential extends Schema.TaggedError<InvalidCredential>()("InvalidCredential", {}) {
  override get message() {
    return "The credential is not valid."
  }
}

/** A session token that has expired while its session may still be refreshed. */
export class TokenExpired extends Schema.TaggedError<TokenExpired>()("TokenExpired", {}) {
  override get message() {
    return "The session token has expired. Refresh it with POST /v1/auth/refresh."
  }
}

/** The session has ended: refreshing does not help. */
export class SignInRequired extends Schema.TaggedError<SignInRequired>()("SignInRequired", {}) {
  override get message() {
    return "The session has ended. Sign in again."
  }
}

/** Why a caller may not do something. Each code is also the code of a problem of the API. */
export const RefusalCode = Schema.Literals([
  "alpha_pending",
  "not_a_member",
  "session_required",
  "key_self_only",
  "scope_insufficient",
  "capability_insufficient",
  "role_insufficient"
])
export type RefusalCode = typeof RefusalCode.Type

/** The caller may not do this. `required` and `held` say what the call needs and what the credential has. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  code: RefusalCode,
  required: Schema.NullOr(Schema.String),
  held: Schema.NullOr(Schema.String)
}) {
  override get message() {
    return `This call needs ${this.required ?? "other rights"}; the credential has ${this.held ?? "none"}.`
  }
}

/** A member of a body names something outside the caller's reach, or its value is not acceptable. */
export class InvalidMember extends Schema.TaggedError<InvalidMember>()("InvalidMember", {
  path: Schema.Array(Schema.String),
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/**
 * Another operation holds the branch, or, with `waiting`, so many wait on it that it takes no more. Retrying later is
 * safe.
 */
export class ResourceBusy extends Schema.TaggedError<ResourceBusy>()("ResourceBusy", {
  blocking_operation_id: Schema.String,
  waiting: Schema.optionalKey(Schema.Int)
}) {
  override get message() {
    if (this.waiting !== undefined)
      return `${this.waiting} operations wait on this branch, which is as many as may. Try again when some have finished; the first of them is ${this.blocking_operation_id}.`
    return `Operation ${this.blocking_operation_id} is still running on this branch. Try again when it has finished.`
  }
}

const refusedTransactions = {
  unsupported:
    "This storage has no transactions that a host could begin. Use storage on Postgres, in the same database.",
  unknown_handle:
    "The handle is none of node-postgres, postgres.js or Drizzle over either. Pass the client or the transaction itself.",
  not_in_transaction:
    "The handle is not in a transaction. Pass the handle that the transaction's callback received, or send BEGIN first.",
  failed: "A statement has failed in this transaction. Roll it back, or roll back to a savepoint of your own.",
  isolation:
    "The transaction's isolation level is not READ COMMITTED, which this work relies on: it reads again after it has waited for a lock.",
  other_database: "The transaction is on another database than the control plane. Open it on the same one.",
  no_rights:
    "The transaction's role may not use the control plane's tables. Grant it the rights of the control plane's role.",
  busy: "This transaction runs another call of the control plane. Await that call first.",
  nested: "A transaction of the control plane is already running. Use the one that is open.",
  ended: "The transaction ended while the call was running. Await the call before the transaction ends.",
  waits_for_commit:
    "This call waits for what it commits, so it cannot run inside your transaction. Make it after the commit."
} as const

/** Why a transaction of a host could not be used. Nothing has changed in it, unless `code` is `ended`. */
export class TransactionRefused extends Schema.TaggedError<TransactionRefused>()("TransactionRefused", {
  code: Schema.Literals([
    "unsupported",
    "unknown_handle",
    "not_in_transaction",
    "failed",
    "isolation",
    "other_database",
    "no_rights",
    "busy",
    "nested",
    "ended",
    "waits_for_commit"
  ])
}) {
  override get message() {
    return refusedTransactions[this.code]
  }
}
