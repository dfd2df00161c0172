/**
 * What can go wrong on our side of the wire. Refusals of the API are its own problems; `explain` turns both into what a
 * person reads and into an exit code.
 */
import { Schema } from "effect"

const hint = Schema.optionalKey(Schema.String)

/** There is no credential to call with, or none for this server. */
export class NotSignedIn extends Schema.TaggedError<NotSignedIn>()("NotSignedIn", { message: Schema.String, hint }) {}

/** The command line, a variable or standard input holds something that cannot be meant. */
export class UsageMistake extends Schema.TaggedError<UsageMistake>()("UsageMistake", {
  message: Schema.String,
  hint
}) {}

/** The credentials file cannot be used as it is. */
export class ContextFileUnusable extends Schema.TaggedError<ContextFileUnusable>()("ContextFileUnusable", {
  message: Schema.String,
  hint,
  cause: Schema.optionalKey(Schema.Unknown)
}) {}

/** The login ended without a key. */
export class LoginEnded extends Schema.TaggedError<LoginEnded>()("LoginEnded", { message: Schema.String, hint }) {}

/** The command stopped before it did what it was asked. */
export class Stopped extends Schema.TaggedError<Stopped>()("Stopped", { message: Schema.String, hint }) {}

/** The failure was printed; what is left is the exit code. */
export class Reported extends Schema.TaggedError<Reported>()("Reported", {
  exit: Schema.Literals(["failed", "usage", "signed_out"])
}) {}

export type LocalFailure = NotSignedIn | UsageMistake | ContextFileUnusable | LoginEnded | Stopped
