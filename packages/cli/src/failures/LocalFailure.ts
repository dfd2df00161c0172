/**
 * The failures of the command line itself. The API reports its own as problems; `explain` turns both into a message and
 * an exit code.
 */
import { SessionRequiredProblem } from "@narthex/api"
import { Schema } from "effect"

const hint = Schema.optionalKey(Schema.String)

/** There is no credential, or none for this server. */
export class NotSignedIn extends Schema.TaggedError<NotSignedIn>()("NotSignedIn", { message: Schema.String, hint }) {}

/** An argument, an environment variable or standard input has an invalid value. */
export class UsageMistake extends Schema.TaggedError<UsageMistake>()("UsageMistake", {
  message: Schema.String,
  hint
}) {}

/** The credentials file cannot be read, written or decoded. */
export class ContextFileUnusable extends Schema.TaggedError<ContextFileUnusable>()("ContextFileUnusable", {
  message: Schema.String,
  hint,
  cause: Schema.optionalKey(Schema.Unknown)
}) {}

/** No context has this name. */
export class NoSuchContext extends Schema.TaggedError<NoSuchContext>()("NoSuchContext", {
  message: Schema.String,
  hint
}) {}

/** The login ended without a key. */
export class LoginEnded extends Schema.TaggedError<LoginEnded>()("LoginEnded", { message: Schema.String, hint }) {}

/** The user answered a question with no. */
export class Declined extends Schema.TaggedError<Declined>()("Declined", { message: Schema.String }) {}

/** The command stopped early, for example because events were missed. */
export class Stopped extends Schema.TaggedError<Stopped>()("Stopped", { message: Schema.String, hint }) {}

/** The API refused a call that needs a person's session. `problem` is what it said. */
export class NeedsSession extends Schema.TaggedError<NeedsSession>()("NeedsSession", {
  message: Schema.String,
  hint,
  problem: Schema.instanceOf(SessionRequiredProblem)
}) {}

/** The answer could not be filtered. The call is made by then. */
export class NotFiltered extends Schema.TaggedError<NotFiltered>()("NotFiltered", { message: Schema.String }) {
  /** `reason`: what jq says. */
  static because(reason: string): NotFiltered {
    return new NotFiltered({ message: `The answer does not fit the expression of --jq: ${reason}.` })
  }
}

/** The failure is printed already; only the exit code remains. */
export class Reported extends Schema.TaggedError<Reported>()("Reported", {
  exit: Schema.Literals(["failed", "usage", "declined", "signed_out"])
}) {}

/** A program that narthex ran has ended with this code, and has said why itself. */
export class Exited extends Schema.TaggedError<Exited>()("Exited", { code: Schema.Int }) {}

export type LocalFailure =
  | NotSignedIn
  | UsageMistake
  | NoSuchContext
  | ContextFileUnusable
  | LoginEnded
  | Declined
  | Stopped
  | NeedsSession
  | NotFiltered
