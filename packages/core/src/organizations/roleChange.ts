/**
 * Which roles a member may grant or take away (docs/design/authorization.md, Effective rights): no member grants a role
 * above their own, and owners are made, changed and removed by owners only.
 */
import { Effect } from "effect"
import { coversRole } from "../authorization/Permission.ts"
import type { AnyCaller } from "../authorization/Principal.ts"
import { Refused } from "../Refusals.ts"

export interface RoleChange {
  /** `null`: not yet a member. */
  readonly from: string | null
  /** `null`: removed. */
  readonly to: string | null
}

export const mayChangeRole = (callerRole: string | null, owners: boolean, { from, to }: RoleChange): boolean =>
  (to === null || (callerRole !== null && coversRole(callerRole, to))) &&
  (owners || (from !== "owner" && to !== "owner"))

/** Refuses a change that the caller's role does not allow. */
export const checkRoleChange = (caller: AnyCaller, change: RoleChange): Effect.Effect<void, Refused> => {
  const role = caller.organization.role
  return mayChangeRole(role, caller.permissions.has("manage_owners"), change)
    ? Effect.void
    : Effect.fail(new Refused({ code: "role_insufficient", required: change.to ?? change.from, held: role }))
}
