/**
 * How the command line gets an API key (docs/design/identity.md I36–I41):
 *
 * 1. `authorize`: a signed-in person clicked Authorize; a code comes back, bound to everything that was shown.
 * 2. `exchange`: the command line trades the code, once, with the verifier that only it has, for a new key.
 *
 * Pitfall: trusting the checks of the authorization at the exchange. The key is made at the exchange, so session, gate
 * and membership are checked again there, in the transaction that makes every other key.
 *
 * A second use of a code is refused and never touches the key that the first one made.
 */
import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { equalInConstantTime, sha256 } from "../../Digest.ts"
import { Entropy } from "../../Entropy.ts"
import type { OrgId } from "../../Ids.ts"
import { Conflict, InvalidMember } from "../../Refusals.ts"
import { AuditActor } from "../../records/audit/AuditEntry.ts"
import { AuditLog } from "../../records/audit/AuditLog.ts"
import { noteAct } from "../../records/audit/noteAct.ts"
import { CliGrant, cliCodeLifetime, isLoopbackRedirect } from "../../records/cli-login/CliGrant.ts"
import { CliGrantStore } from "../../records/cli-login/CliGrantStore.ts"
import type { SessionCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { ApiKeys, type CreatedApiKey, type NewApiKey } from "../keys/ApiKeys.ts"

/** Missing, unknown, used, expired, or presented with a verifier or redirect that is not its own: one error. */
export class InvalidCode extends Schema.TaggedError<InvalidCode>()("InvalidCode", {}) {
  override get message() {
    return "The code is not valid. Start the login again."
  }
}

export interface CliAuthorization extends NewApiKey {
  readonly redirect_uri: string
  readonly state: string
  readonly code_challenge: string
}

export interface CliCode {
  readonly code: Redacted.Redacted
  readonly expires_at: DateTime.Utc
}

export interface CliExchange {
  readonly code: Redacted.Redacted
  readonly code_verifier: Redacted.Redacted
  readonly redirect_uri: string
}

export class CliLogin extends Context.Service<
  CliLogin,
  {
    readonly authorize: (
      caller: SessionCaller,
      wanted: CliAuthorization
    ) => Effect.Effect<CliCode, Conflict | InvalidMember | StorageError>
    readonly exchange: (exchange: CliExchange) => Effect.Effect<CreatedApiKey, InvalidCode | Conflict | StorageError>
  }
>()("@narthex/core/services/cli-login/CliLogin") {
  static readonly layer: Layer.Layer<CliLogin, never, ApiKeys | AuditLog | CliGrantStore | Transaction> = Layer.effect(
    CliLogin,
    Effect.gen(function* () {
      const entropy = yield* Entropy
      const grants = yield* CliGrantStore
      const keys = yield* ApiKeys
      const note = noteAct(yield* AuditLog)
      const { run } = yield* Transaction

      const authorize = Effect.fn("CliLogin.authorize")(function* (caller: SessionCaller, wanted: CliAuthorization) {
        if (!isLoopbackRedirect(wanted.redirect_uri))
          return yield* new InvalidMember({
            path: ["redirect_uri"],
            reason: "The redirect must be http on 127.0.0.1 or [::1], port 1024 to 65535, and a plain path."
          })
        const now = yield* DateTime.now
        const code = Redacted.make(Base64Url.encode(yield* entropy.bytes(32)), { label: "cli code" })
        const expires_at = DateTime.addDuration(now, cliCodeLifetime)
        const grant = new CliGrant({
          code_digest: yield* sha256(Redacted.value(code)),
          state_digest: yield* sha256(wanted.state),
          code_challenge: wanted.code_challenge,
          redirect_uri: wanted.redirect_uri,
          user_id: caller.user.id,
          org_id: caller.org_id,
          session_id: caller.session_id,
          name: wanted.name.trim(),
          capability: wanted.capability,
          scope: wanted.scope,
          expires_in_days: wanted.expires_in_days,
          created_at: now,
          expires_at,
          consumed_at: null,
          wrong_verifiers: 0
        })
        if (!(yield* grants.insert(grant)))
          return yield* new Conflict({ reason: "This login was authorized before. Start `narthex login` again." })
        return { code, expires_at }
      })

      /** Creates the key that was authorized, if the user may still create it. */
      const makeKey = ({ capability, expires_in_days, name, org_id, scope, session_id, user_id }: CliGrant) =>
        Effect.catchTag(
          keys.create({ session_id, org_id, user: { id: user_id } }, { name, capability, scope, expires_in_days }),
          ["InvalidCredential", "InvalidMember", "Refused", "SignInRequired"],
          () => new InvalidCode({})
        )

      const exchange = Effect.fn("CliLogin.exchange")(function* (presented: CliExchange) {
        const digest = yield* sha256(Redacted.value(presented.code))
        const grant = Option.getOrUndefined(yield* grants.find(digest))
        if (grant === undefined) return yield* new InvalidCode({})
        if (grant.consumed_at !== null) {
          yield* Effect.logWarning("A command-line code was presented a second time.", { user_id: grant.user_id })
          return yield* new InvalidCode({})
        }
        const challenge = yield* sha256(Redacted.value(presented.code_verifier))
        if (!equalInConstantTime(challenge, grant.code_challenge) || presented.redirect_uri !== grant.redirect_uri) {
          yield* grants.noteWrongVerifier(digest)
          return yield* new InvalidCode({})
        }
        const step = Effect.gen(function* () {
          const consumed = Option.getOrUndefined(yield* grants.consume(digest, yield* DateTime.now))
          if (consumed === undefined) return yield* new InvalidCode({})
          const made = yield* makeKey(consumed)
          yield* note(creationOf(made.api_key, consumed.org_id))
          return made
        })
        return yield* run(step)
      })

      return CliLogin.of({ authorize, exchange })
    })
  )
}

/** The act of the person who authorized the command line. */
const creationOf = ({ capability, created_by: user, id, name }: CreatedApiKey["api_key"], org_id: OrgId) =>
  ({
    org_id,
    action: "api_key.created",
    actor: new AuditActor({ type: "user", id: user.id, name: user.email, user }),
    targets: [{ type: "api_key", id, name }],
    metadata: { capability }
  }) as const
