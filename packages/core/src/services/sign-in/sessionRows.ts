/**
 * How the row of a session begins, with the entry of the sign-in, and how it ends with its event: inside the running
 * transaction.
 */
import { DateTime, Duration, Effect } from "effect"
import { described, makeSessionId, type OrgId, type SessionId } from "../../Ids.ts"
import type { User } from "../../records/accounts/User.ts"
import { ActOrigin } from "../../records/audit/ActOrigin.ts"
import type { AuditLog } from "../../records/audit/AuditLog.ts"
import { actorOfUser, noteAct } from "../../records/audit/noteAct.ts"
import { sessionRevoked } from "../../records/events/InternalEvents.ts"
import { Session, type SessionEnd } from "../../records/sessions/Session.ts"
import type { SessionStore } from "../../records/sessions/SessionStore.ts"
import type { Transaction } from "../../Transaction.ts"
import { hostProvider } from "./HostIdentity.ts"

/** Where a sign-in came from, for the user's own list of sessions. Each is stored as `described` returns it. */
export interface Device {
  readonly user_agent: string | null
  readonly address: string | null
}

/** `digest`: of what begins it, an id token or the host's id of a session; `null`: neither. */
export const openSession = (store: SessionStore["Service"], log: AuditLog["Service"]) => {
  const note = noteAct(log)
  return Effect.fnUntraced(function* (
    user: User,
    landing: OrgId,
    provider: string,
    device: Device,
    digest: string | null
  ) {
    const now = yield* DateTime.now
    const id = yield* makeSessionId
    const session = new Session({
      id,
      user_id: user.id,
      active_org_id: landing,
      generation: 1,
      refreshed_at: now,
      signed_in_at: now,
      revoked_at: null,
      revoked_reason: null,
      provider,
      user_agent: device.user_agent === null ? null : described(device.user_agent),
      address: device.address === null ? null : described(device.address),
      id_token_digest: digest ?? itself(id)
    })
    yield* store.insert(session)
    const act = {
      org_id: landing,
      action: "session.created",
      actor: actorOfUser(user),
      targets: [{ type: "session", id }],
      metadata: { provider }
    } as const
    // A host without a request knows the device all the same.
    yield* Effect.provideService(note(act), ActOrigin, { ...(yield* ActOrigin), ...device })
    return session
  })
}

/** The value that a session has in place of a digest when nothing can begin it again. */
const itself = (id: SessionId) => `${hostProvider} ${id}`

/** How long the id of an ended host's session begins no session here. Browsers keep cookies no longer (RFC 6265bis). */
export const longestCookie = Duration.days(400)

/** How long the digest of an ended session begins no other session. An id token is valid for minutes or hours. */
const spentFor = ({ id, id_token_digest, provider }: Session) =>
  provider === hostProvider && id_token_digest !== itself(id) ? longestCookie : Duration.days(1)

/** The act of a person who ends a session. */
export const endOf = (session: Session, user: User) =>
  ({
    org_id: session.active_org_id,
    action: "session.ended",
    actor: actorOfUser(user),
    targets: [{ type: "session", id: session.id }]
  }) as const

export const revokeSession = (store: SessionStore["Service"], emit: Transaction["Service"]["emit"]) =>
  Effect.fnUntraced(function* (session: Session, reason: SessionEnd) {
    const now = yield* DateTime.now
    yield* store.update(new Session({ ...session, revoked_at: now, revoked_reason: reason }))
    yield* store.spend(session.id_token_digest, DateTime.addDuration(now, spentFor(session)))
    yield* emit(sessionRevoked(session.active_org_id, session.id))
  })
