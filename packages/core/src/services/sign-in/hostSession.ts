/**
 * Sessions that a host begins for a person whom it has authenticated (docs/design/identity.md I52 to I54).
 *
 * One session of the person belongs to the host's own id of its session. The first start with the id makes the session,
 * later ones find it, and after its end the id begins no other. The id may be what authenticates the person at the
 * host, so only its digest is stored.
 */
import { DateTime, Effect, Option } from "effect"
import { sha256 } from "../../Digest.ts"
import { requestedId, UserId } from "../../Ids.ts"
import { orNotFound, SignInRequired } from "../../Refusals.ts"
import { AccessPolicy, maySignIn } from "../../records/accounts/AccessPolicy.ts"
import type { AccountStore } from "../../records/accounts/AccountStore.ts"
import { personalOrgId } from "../../records/accounts/Organization.ts"
import type { User } from "../../records/accounts/User.ts"
import type { AuditLog } from "../../records/audit/AuditLog.ts"
import { noteAct } from "../../records/audit/noteAct.ts"
import { Session, SessionPolicy } from "../../records/sessions/Session.ts"
import type { SessionStore } from "../../records/sessions/SessionStore.ts"
import type { Transaction } from "../../Transaction.ts"
import { AccountDisabled, hostProvider } from "./HostIdentity.ts"
import type { issueToken } from "./issueToken.ts"
import { EmailNotAllowed } from "./SignIn.ts"
import { type Device, endOf, longestCookie, type openSession, type revokeSession } from "./sessionRows.ts"

/** The digest includes the person, so that no person gets the session of another. */
const digestOf = (user: UserId, own: string) =>
  Effect.map(sha256(JSON.stringify([user, own])), (digest) => `${hostProvider} ${digest}`)

interface Parts {
  readonly accounts: AccountStore["Service"]
  readonly store: SessionStore["Service"]
  readonly log: AuditLog["Service"]
  readonly run: Transaction["Service"]["run"]
  readonly issue: ReturnType<typeof issueToken>
  readonly opened: ReturnType<typeof openSession>
  readonly revoke: ReturnType<typeof revokeSession>
}

export const hostSessions = ({ accounts, issue, log, opened, revoke, run, store }: Parts) => {
  const note = noteAct(log)
  const person = (id: UserId) => orNotFound(accounts.findUser(requestedId(UserId, id)))

  const decided = Effect.fnUntraced(function* (user: User) {
    if (user.disabled_at !== null) return yield* new AccountDisabled({})
    return maySignIn(yield* AccessPolicy, user) ? user : yield* new EmailNotAllowed({})
  })

  const admitted = (id: UserId) => Effect.flatMap(person(id), decided)

  /** By the row under its lock, so that no session begins after the account was disabled. */
  const lockedAdmitted = Effect.fnUntraced(function* (id: UserId) {
    const { issuer, subject } = yield* person(id)
    return yield* decided(yield* orNotFound(accounts.lockUserByIdentity(issuer, subject)))
  })

  const lasts = (session: Session) =>
    Effect.map(Effect.all([SessionPolicy, DateTime.now]), ([{ window }, now]) =>
      DateTime.isLessThan(now, session.refreshUntil(window))
    )

  const landing = Effect.fnUntraced(function* (user: User) {
    return Option.getOrElse(yield* accounts.landingOf(user.id), () => personalOrgId(user.id))
  })

  /** The session of the digest after its window: the host vouches for the person again. */
  const renewed = Effect.fnUntraced(function* (found: Session, user: User) {
    const session = yield* orNotFound(store.lock(found.id))
    if (session.revoked_at !== null) return yield* new SignInRequired({})
    if (yield* lasts(session)) return session
    const [now, active_org_id] = [yield* DateTime.now, yield* landing(user)]
    const generation = session.generation + 1
    const next = new Session({ ...session, active_org_id, generation, refreshed_at: now, signed_in_at: now })
    yield* store.update(next)
    return next
  })

  /** In a transaction with the lock of the person, so that of starts at once the first makes the session and the others find it. */
  const foundOrMade = Effect.fnUntraced(function* (user: User, device: Device, digest: string) {
    const found = yield* store.begunBy(digest)
    if (Option.isSome(found)) return yield* renewed(found.value, user)
    if (yield* store.isSpent(digest)) return yield* new SignInRequired({})
    return yield* opened(user, yield* landing(user), hostProvider, device, digest)
  })

  const start = Effect.fn("Sessions.start")(function* (id: UserId, device: Device, own: string | null = null) {
    if (own === null) {
      const begin = Effect.gen(function* () {
        const user = yield* lockedAdmitted(id)
        return { user, session: yield* opened(user, yield* landing(user), hostProvider, device, null) }
      })
      const { session, user } = yield* run(begin)
      return yield* issue(session, user)
    }
    // A host asks at each request of a browser, so an existing session is found without a transaction.
    const user = yield* admitted(id)
    const digest = yield* digestOf(user.id, own)
    const found = yield* store.begunBy(digest)
    if (Option.isSome(found) && (yield* lasts(found.value))) return yield* issue(found.value, user)
    const begin = Effect.gen(function* () {
      const user = yield* lockedAdmitted(id)
      return { user, session: yield* foundOrMade(user, device, digest) }
    })
    const begun = yield* run(begin)
    return yield* issue(begun.session, begun.user)
  })

  const endOwn = Effect.fn("Sessions.endOwn")(function* (id: UserId, own: string) {
    const step = Effect.gen(function* () {
      const user = yield* person(id)
      yield* accounts.lockUserByIdentity(user.issuer, user.subject)
      const digest = yield* digestOf(user.id, own)
      const found = yield* store.begunBy(digest)
      const session = Option.isSome(found) ? yield* store.lock(found.value.id) : found
      if (Option.isSome(session) && session.value.revoked_at === null) {
        yield* revoke(session.value, "signed_out")
        yield* note(endOf(session.value, user))
      }
      // Without a session too: a request that is under way must not begin one after the sign-out.
      yield* store.spend(digest, DateTime.addDuration(yield* DateTime.now, longestCookie))
    })
    yield* run(step)
  })

  return { start, endOwn }
}
