/**
 * From a bearer credential to its caller (docs/design/authorization.md Z6, steps 2 and 3).
 *
 * Every answer is read from storage: a revocation, a demotion or a removal acts on the next request, on every
 * instance. The answer to a refused credential says no more than its code.
 *
 * Every request is authenticated, so the decision is a pure function (`callers.ts`) with few steps around it.
 */
import { Clock, Context, DateTime, Effect, type Fiber, Layer, Option, Redacted, Result } from "effect"
import { InvalidCredential, type SignInRequired, type TokenExpired } from "../../Refusals.ts"
import { CredentialStore } from "../../records/access/CredentialStore.ts"
import { AccessPolicy } from "../../records/accounts/AccessPolicy.ts"
import { KeyDigester } from "../../records/keys/KeyDigester.ts"
import { isKeySecret } from "../../records/keys/KeySecret.ts"
import { KeyUses } from "../../records/keys/KeyUses.ts"
import { SessionPolicy } from "../../records/sessions/Session.ts"
import { TokenSigner } from "../../records/sessions/TokenSigner.ts"
import { requestSpan } from "../../requestSpan.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { Roles } from "../../rules/authorization/Roles.ts"
import type { StorageError } from "../../StorageError.ts"
import { inHostTransaction } from "../../Transaction.ts"
import { type Circumstances, callerOfKey, callerOfSession } from "./callers.ts"

/** The circumstances of the running call. */
const circumstancesOf = (call: Fiber.Fiber<unknown, unknown>): Circumstances => ({
  now: DateTime.makeUnsafe(call.getRef(Clock.Clock).currentTimeMillisUnsafe()),
  access: call.getRef(AccessPolicy),
  roles: call.getRef(Roles)
})

export class Authentication extends Context.Service<
  Authentication,
  {
    /** `from` is the client's address, for the record of a key's last use. */
    readonly authenticate: (
      credential: Redacted.Redacted,
      from: string | null
    ) => Effect.Effect<AnyCaller, InvalidCredential | TokenExpired | SignInRequired | StorageError>
  }
>()("@narthex/core/services/access/Authentication") {
  static readonly layer: Layer.Layer<Authentication, never, CredentialStore | KeyDigester | KeyUses | TokenSigner> =
    Layer.effect(
      Authentication,
      Effect.gen(function* () {
        const credentials = yield* CredentialStore
        const digester = yield* KeyDigester
        const uses = yield* KeyUses
        const signer = yield* TokenSigner

        const byKey = (secret: Redacted.Redacted, from: string | null) =>
          Effect.flatMap(digester.digests(secret), (all) => {
            const digests = all.map(({ digest }) => digest)
            return Effect.flatMap(credentials.byKeyDigest(digests), (found) =>
              Effect.withFiber((call) => {
                const at = circumstancesOf(call)
                const caller = callerOfKey(Option.getOrUndefined(found), digests, at)
                if (Option.isNone(found) || Result.isFailure(caller)) return Effect.fromResult(caller)
                const first = uses.noteAt(found.value.key.key, from, at.now)
                if (first === undefined) return Effect.succeed(caller.success)
                // In a host's transaction it would lock the key until the commit: the next flush writes it.
                return Effect.flatMap(inHostTransaction, (hosted) =>
                  hosted ? Effect.succeed(caller.success) : Effect.as(first, caller.success)
                )
              })
            )
          })

        const bySession = (token: Redacted.Redacted) =>
          Effect.catchTag(signer.verify(token), "ForgedToken", () => new InvalidCredential({})).pipe(
            Effect.flatMap((claims) =>
              Effect.flatMap(credentials.bySession(claims.sid, claims.org_id), (found) =>
                Effect.withFiber((call) => {
                  const { window } = call.getRef(SessionPolicy)
                  return Effect.fromResult(
                    callerOfSession(Option.getOrUndefined(found), claims, window, circumstancesOf(call))
                  )
                })
              )
            )
          )

        const spanned = requestSpan("Authentication.authenticate")
        return Authentication.of({
          authenticate: (credential, from) => {
            const text = Redacted.value(credential)
            if (!text.startsWith("nsk_")) return spanned(bySession(credential))
            return spanned(isKeySecret(text) ? byKey(credential, from) : new InvalidCredential({}))
          }
        })
      })
    )
}
