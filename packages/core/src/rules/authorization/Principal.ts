/**
 * The caller, as read from storage for this request: nothing is cached between requests
 * (docs/design/authorization.md).
 *
 * A key acts with its creator's identity, so both kinds have a user, an organization and that user's role in it.
 */
import { Context, type DateTime, Effect } from "effect"
import type { ApiKeyId, BranchId, OrgId, SessionId } from "../../Ids.ts"
import type { ActiveOrganization } from "../../records/accounts/Organization.ts"
import type { AccountState, User, UserProfile } from "../../records/accounts/User.ts"
import type { Capability, Scope, StoredSecret } from "../../records/keys/ApiKey.ts"
import type { Permission } from "./Permission.ts"

interface Caller {
  readonly user: User
  readonly org_id: OrgId
  /** `role` is `null` when the user is no longer a member. */
  readonly organization: ActiveOrganization
  /** The inviter of the user, while the membership is not confirmed (`Membership`). */
  readonly invited_by: UserProfile | null
  readonly account_state: AccountState
  /** The permissions of the role. A key's capability and scope narrow them further; `decide` checks all three. */
  readonly permissions: ReadonlySet<Permission>
  /** When the credential expires: the `exp` of the JWT, the expiry of the key. */
  readonly expires_at: DateTime.Utc | null
}

export interface SessionCaller extends Caller {
  readonly kind: "session"
  readonly session_id: SessionId
}

export interface KeyCaller extends Caller {
  readonly kind: "api_key"
  readonly api_key_id: ApiKeyId
  readonly api_key_name: string
  readonly capability: Capability
  readonly scope: Scope
  /** The secret that was presented. After a rotation an old secret expires before its key. */
  readonly secret: StoredSecret
}

export type AnyCaller = SessionCaller | KeyCaller

export class Principal extends Context.Service<Principal, AnyCaller>()("@narthex/core/rules/authorization/Principal") {
  /** The caller of a call whose policy admits sessions only; a key there is a defect. */
  static readonly session = Principal.use((caller) =>
    caller.kind === "session"
      ? Effect.succeed(caller)
      : Effect.die(new Error("An API key passed a policy that admits sessions only."))
  )
}

/**
 * The branch that a key is narrowed to; `null` for every other caller. Lists inside a project show that branch alone.
 */
export const branchScopeOf = (caller: AnyCaller): BranchId | null =>
  caller.kind === "api_key" && caller.scope.type === "branch" ? caller.scope.branch_id : null
