/** Makes the entry of an act, from here and now, and adds it to the running transaction. */
import { DateTime, Effect } from "effect"
import { described, makeAuditEntryId, type OrgId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import type { User } from "../accounts/User.ts"
import { ActOrigin } from "./ActOrigin.ts"
import { AuditActor, AuditContext, AuditEntry, type AuditOutcome, AuditTarget, auditVersion } from "./AuditEntry.ts"
import type { AuditLog } from "./AuditLog.ts"
import type { AuditAction } from "./auditActions.ts"

export interface Act {
  /** The organization that the entry belongs to; `null`: none. */
  readonly org_id: OrgId | null
  readonly action: AuditAction
  readonly actor: AuditActor
  /** The object of the act first, then what it is part of. */
  readonly targets?: ReadonlyArray<{ readonly type: string; readonly id: string; readonly name?: string | null }>
  readonly metadata?: Readonly<Record<string, string>>
  /** Default: `done`. */
  readonly outcome?: AuditOutcome
}

/** A person who acts with a session. */
export const actorOfUser = (user: Pick<User, "id" | "email" | "name" | "ref">): AuditActor =>
  new AuditActor({ type: "user", id: user.id, name: user.email ?? user.name, user: user.ref })

/** A command of the operator. */
export const operatorActor = new AuditActor({ type: "operator", id: null, name: null, user: null })

/** A client without a credential. */
export const anonymousActor = new AuditActor({ type: "anonymous", id: null, name: null, user: null })

const longestId = 128

export const noteAct = ({ append }: AuditLog["Service"]) =>
  Effect.fnUntraced(function* (act: Act): Effect.fn.Return<void, StorageError> {
    const { action, actor, metadata = {}, org_id, outcome = "done", targets = [] } = act
    const now = yield* DateTime.now
    const { address, request_id, user_agent } = yield* ActOrigin
    const known = (text: string | null) => (text === null ? null : described(text))
    yield* append(
      new AuditEntry({
        id: yield* makeAuditEntryId(now),
        org_id,
        occurred_at: now,
        action,
        outcome,
        actor,
        targets: targets.map(
          ({ id, name = null, type }) => new AuditTarget({ type, id: described(id, longestId), name: known(name) })
        ),
        context: new AuditContext({ location: known(address), user_agent: known(user_agent), request_id }),
        metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, described(text)])),
        version: auditVersion
      })
    )
  })
