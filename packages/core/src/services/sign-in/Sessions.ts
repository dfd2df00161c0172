/**
 * Web sessions, step by step (docs/design/identity.md I2, I21–I29):
 *
 * 1. `exchange`: an id token of a provider becomes a session and its first JWT; the first one makes the account.
 *    `start`: the same for a person whom the host has authenticated (`People`).
 * 2. `refresh`: a session JWT, valid or expired, becomes a fresh one while the window of the sign-in lasts.
 * 3. `switchOrg`: the session acts in another organization. It confirms a membership that the first sign-in made.
 * 4. `logout` and `end`: the session ends, on every instance, from the next request on.
 *
 * Pitfall: trusting the token. The row, under its lock, is authoritative: a late tab with an old token gets the
 * session's current organization and cannot switch it back.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { OrgId, requestedId, SessionId, type UserId } from "../../Ids.ts"
import { maxPageSize } from "../../Page.ts"
import { InvalidCredential, NotFound, orNotFound, SignInRequired } from "../../Refusals.ts"
import { AccessPolicy, maySignIn } from "../../records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { Membership } from "../../records/accounts/Membership.ts"
import { personalOrgId } from "../../records/accounts/Organization.ts"
import { AuditLog } from "../../records/audit/AuditLog.ts"
import { noteAct } from "../../records/audit/noteAct.ts"
import { actsIn } from "../../records/audit/RunningAct.ts"
import { Session, type SessionClaims, SessionPolicy } from "../../records/sessions/Session.ts"
import { SessionStore } from "../../records/sessions/SessionStore.ts"
import { TokenSigner } from "../../records/sessions/TokenSigner.ts"
import type { SessionCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { activeSession } from "./activeSession.ts"
import type { AccountDisabled } from "./HostIdentity.ts"
import { hostSessions } from "./hostSession.ts"
import { IdentityProvider, type IdTokenToVerify, InvalidIdToken, type ProviderUnavailable } from "./IdentityProvider.ts"
import { type IssuedSession, issueToken } from "./issueToken.ts"
import { EmailNotAllowed, SignIn } from "./SignIn.ts"
import { type Device, endOf, openSession, revokeSession } from "./sessionRows.ts"

/** The caller is not a member of the organization, or it does not exist. The answer does not say which. */
export class NotAMember extends Schema.TaggedError<NotAMember>()("NotAMember", {}) {
  override get message() {
    return "You are not a member of this organization."
  }
}

/** The reason of a refused sign-in is for the operator alone: the answer is the same for every cause. */
const refusedSignIn = (provider: string | undefined, cause: string) =>
  Effect.logWarning(`A sign-in was refused (provider: ${provider ?? "unknown"}): ${cause.replaceAll(/\s+/g, " ")}.`)

export class Sessions extends Context.Service<
  Sessions,
  {
    readonly exchange: (
      token: IdTokenToVerify,
      device: Device
    ) => Effect.Effect<IssuedSession, InvalidIdToken | ProviderUnavailable | EmailNotAllowed | StorageError>
    /**
     * A session of a known person, without an id token: for hosts that have authenticated the person. Like an exchange,
     * it is refused to a disabled account and to an address that may not sign in.
     *
     * `own`: the host's id of its own session. The session that belongs to it is found, or made by the first start; the
     * answer has a new token. After the end of that session it is `SignInRequired`.
     */
    readonly start: (
      user: UserId,
      device: Device,
      own?: string | null
    ) => Effect.Effect<IssuedSession, NotFound | AccountDisabled | EmailNotAllowed | SignInRequired | StorageError>
    /**
     * Ends the session that belongs to the host's session `own`, if there is one. From then on, `own` begins no
     * session.
     */
    readonly endOwn: (user: UserId, own: string) => Effect.Effect<void, NotFound | StorageError>
    readonly refresh: (
      token: Redacted.Redacted
    ) => Effect.Effect<IssuedSession, InvalidCredential | SignInRequired | EmailNotAllowed | StorageError>
    readonly switchOrg: (
      caller: SessionCaller,
      org: string
    ) => Effect.Effect<IssuedSession, NotAMember | SignInRequired | StorageError>
    /** Takes an expired token too: an expired tab must be able to end its session. */
    readonly logout: (
      token: Redacted.Redacted
    ) => Effect.Effect<void, InvalidCredential | SignInRequired | StorageError>
    /** The user's active sessions, newest first, at most `maxPageSize`. */
    readonly list: (user: UserId) => Effect.Effect<ReadonlyArray<Session>, StorageError>
    /** Ends one of the user's own sessions. */
    readonly end: (user: UserId, session: SessionId) => Effect.Effect<void, NotFound | StorageError>
  }
>()("@narthex/core/services/sign-in/Sessions") {
  static readonly layer: Layer.Layer<
    Sessions,
    never,
    AccountStore | AuditLog | IdentityProvider | SessionStore | SignIn | TokenSigner | Transaction
  > = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const provider = yield* IdentityProvider
      const store = yield* SessionStore
      const signIn = yield* SignIn
      const signer = yield* TokenSigner
      const { emit, run } = yield* Transaction
      const issue = issueToken(accounts, signer)

      const log = yield* AuditLog
      const note = noteAct(log)
      const opened = openSession(store, log)
      const revoke = revokeSession(store, emit)
      const { endOwn, start } = hostSessions({ accounts, store, log, run, issue, opened, revoke })

      const exchange = Effect.fn("Sessions.exchange")(function* (token: IdTokenToVerify, device: Device) {
        const identity = yield* Effect.tapErrorTag(provider.verify(token), "InvalidIdToken", (error) =>
          refusedSignIn(error.provider, error.cause)
        )
        const { id_token_replay } = yield* SessionPolicy
        const begin = Effect.gen(function* () {
          const { landing, user } = yield* signIn.enter(identity)
          // After `enter`, which may wait for a lock: a sign-out that commits while it waits counts.
          const fresh =
            id_token_replay === "reject"
              ? yield* store.spend(identity.token_digest, identity.expires_at)
              : !(yield* store.isSpent(identity.token_digest))
          if (!fresh) return yield* new InvalidIdToken({ cause: "the token was used before" })
          const session = yield* opened(user, landing, identity.provider, device, identity.token_digest)
          return { session, user }
        })
        const { session, user } = yield* run(begin).pipe(
          Effect.tapErrorTag("InvalidIdToken", ({ cause }) => refusedSignIn(identity.provider, cause)),
          Effect.tapErrorTag("EmailNotAllowed", () =>
            refusedSignIn(identity.provider, "the sign-in allowlist does not hold its address")
          )
        )
        return yield* issue(session, user)
      })

      const held = activeSession(store, accounts)

      /** The session of a verified token, under its lock, and its user, if both are still active. */
      const active = Effect.fnUntraced(function* (claims: SessionClaims) {
        const { session, user } = yield* held(claims.sid)
        const signedIn = Math.floor(session.signed_in_at.epochMilliseconds / 1000)
        if (session.user_id !== claims.sub || signedIn !== claims.auth_time) return yield* new InvalidCredential({})
        return { session, user }
      })

      const verify = (token: Redacted.Redacted) =>
        Effect.catchTag(signer.verify(token), "ForgedToken", () => new InvalidCredential({}))

      /** Whether a token of this generation may still be refreshed, and if not, whether its session is revoked. */
      const reused = Effect.fnUntraced(function* (session: Session, claims: SessionClaims) {
        if (claims.gen === session.generation) return false
        const { reuse } = yield* SessionPolicy
        yield* Effect.logInfo("A superseded session token was presented.", {
          session_id: session.id,
          generation: claims.gen
        })
        const age = DateTime.distance(session.refreshed_at, yield* DateTime.now)
        return reuse === "revoke" || (reuse === "grace60" && Duration.toMillis(age) > 60_000)
      })

      const activeOrganization = Effect.fnUntraced(function* (session: Session) {
        const membership = yield* accounts.findMembership(session.active_org_id, session.user_id)
        return Option.isSome(membership) ? session.active_org_id : personalOrgId(session.user_id)
      })

      // A refusal that revokes must commit before it is answered, so it leaves the transaction as a value.
      const refresh = Effect.fn("Sessions.refresh")(function* (token: Redacted.Redacted) {
        const claims = yield* verify(token)
        const step = Effect.gen(function* () {
          const { session, user } = yield* active(claims)
          if (!maySignIn(yield* AccessPolicy, user)) {
            yield* revoke(session, "allowlist")
            return "email_not_allowed" as const
          }
          if (yield* reused(session, claims)) {
            yield* revoke(session, "reused")
            return "reused" as const
          }
          const refreshed = new Session({
            ...session,
            active_org_id: yield* activeOrganization(session),
            generation: session.generation + 1,
            refreshed_at: yield* DateTime.now
          })
          yield* store.update(refreshed)
          return { session: refreshed, user }
        })
        const outcome = yield* run(step)
        if (outcome === "email_not_allowed") return yield* new EmailNotAllowed({})
        if (outcome === "reused") return yield* new SignInRequired({})
        return yield* issue(outcome.session, outcome.user)
      })

      /** Confirms a membership that the first sign-in made (docs/design/identity.md I48). */
      const confirm = Effect.fnUntraced(function* (org: OrgId, user: UserId) {
        yield* accounts.lockOrganization(org)
        // A removal or a change of role that the lock waited for has committed.
        const membership = Option.getOrUndefined(yield* accounts.findMembership(org, user))
        if (membership === undefined) return yield* new NotAMember({})
        yield* accounts.putMembership(new Membership({ ...membership, invited_by: null }))
      })

      const switchOrg = Effect.fn("Sessions.switchOrg")(function* (caller: SessionCaller, org: string) {
        const target = requestedId(OrgId, org)
        const step = Effect.gen(function* () {
          const session = Option.getOrUndefined(yield* store.lock(caller.session_id))
          if (session === undefined || session.revoked_at !== null) return yield* new SignInRequired({})
          const membership = yield* accounts.findMembership(target, caller.user.id)
          if (Option.isNone(membership)) return yield* new NotAMember({})
          if (Option.exists(membership, ({ invited_by }) => invited_by !== null)) yield* confirm(target, caller.user.id)
          const switched = new Session({
            ...session,
            active_org_id: target,
            generation: session.generation + 1,
            refreshed_at: yield* DateTime.now
          })
          yield* store.update(switched)
          yield* actsIn(target)
          return switched
        })
        return yield* issue(yield* run(step), caller.user)
      })

      const logout = Effect.fn("Sessions.logout")(function* (token: Redacted.Redacted) {
        const claims = yield* verify(token)
        const step = Effect.gen(function* () {
          const { session, user } = yield* active(claims)
          yield* revoke(session, "signed_out")
          yield* note(endOf(session, user))
        })
        yield* run(step)
      })

      const list = Effect.fn("Sessions.list")(function* (user: UserId) {
        const { window } = yield* SessionPolicy
        return yield* store.active(user, DateTime.subtractDuration(yield* DateTime.now, window), maxPageSize)
      })

      const end = Effect.fn("Sessions.end")(function* (user: UserId, id: SessionId) {
        const step = Effect.gen(function* () {
          const session = yield* orNotFound(store.lock(requestedId(SessionId, id)))
          if (session.user_id !== user || session.revoked_at !== null) return yield* new NotFound({})
          yield* revoke(session, "ended_by_owner")
          yield* actsIn(session.active_org_id)
        })
        yield* run(step)
      })

      return Sessions.of({ exchange, start, endOwn, refresh, switchOrg, logout, list, end })
    })
  )
}
