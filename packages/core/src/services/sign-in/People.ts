/**
 * The people of a host that has users of its own: finds or makes their accounts, by the rules of a sign-in
 * (docs/design/identity.md I50–I52).
 *
 * Pitfall: making an account for each subject that a request names. A subject is what the host has authenticated.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { InvalidMember } from "../../Refusals.ts"
import type { User } from "../../records/accounts/User.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { AccountDisabled, type HostIdentity, hostIssuer, hostProvider, invalidIdentity } from "./HostIdentity.ts"
import { type EmailNotAllowed, SignIn } from "./SignIn.ts"

export class People extends Context.Service<
  People,
  {
    /**
     * The person's account, with the address and the name that the host states now. The first call makes it, with its
     * personal organization, and accepts the one invitation that is pending for a verified address.
     */
    readonly ensure: (
      identity: HostIdentity
    ) => Effect.Effect<User, AccountDisabled | EmailNotAllowed | InvalidMember | StorageError>
  }
>()("@narthex/core/services/sign-in/People") {
  static readonly layer: Layer.Layer<People, never, SignIn | Transaction> = Layer.effect(
    People,
    Effect.gen(function* () {
      const { enter } = yield* SignIn
      const { run } = yield* Transaction
      return People.of({
        ensure: Effect.fn("People.ensure")(function* (identity) {
          const invalid = invalidIdentity(identity)
          if (Option.isSome(invalid)) return yield* invalid.value
          const verified = {
            ...identity,
            provider: hostProvider,
            issuer: hostIssuer,
            email_verified: identity.email !== null && identity.email_verified,
            // No token: neither is read where an account is found or made.
            token_digest: "",
            expires_at: yield* DateTime.now
          }
          const entered = run(enter(verified)).pipe(
            Effect.catchTag("InvalidIdToken", () => Effect.fail(new AccountDisabled({})))
          )
          return (yield* entered).user
        })
      })
    })
  )
}
