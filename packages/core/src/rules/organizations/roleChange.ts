/**
 * Which roles a member may grant or take away (docs/design/authorization.md, Effective rights): no member grants a role
 * above their own, and owners are made, changed and removed by owners only.
 */
import { Effect } from "effect"
import { InvalidMember, Refused } from "../../Refusals.ts"
import type { AnyCaller } from "../authorization/Principal.ts"
import { builtInRoles, Roles, type RoleTable } from "../authorization/Roles.ts"

export interface RoleChange {
  /** `null`: not yet a member. */
  readonly from: string | null
  /** `null`: removed. */
  readonly to: string | null
}

export const mayChangeRole = (
  callerRole: string | null,
  owners: boolean,
  { from, to }: RoleChange,
  roles: RoleTable = builtInRoles
): boolean =>
  (to === null || (callerRole !== null && roles.covers(callerRole, to))) &&
  (owners || (from !== "owner" && to !== "owner"))

/** Refuses the name of a role that does not exist. */
export const requireRole = (role: string): Effect.Effect<void, InvalidMember> =>
  Effect.flatMap(Roles, ({ isKnown }) =>
    isKnown(role) ? Effect.void : new InvalidMember({ path: ["role"], reason: `There is no role "${role}".` })
  )

/** Refuses a change that the caller's role does not allow. */
export const checkRoleChange = (caller: AnyCaller, change: RoleChange): Effect.Effect<void, Refused> =>
  Effect.flatMap(Roles, (roles) => {
    const role = caller.organization.role
    return mayChangeRole(role, caller.permissions.has("manage_owners"), change, roles)
      ? Effect.void
      : new Refused({ code: "role_insufficient", required: change.to ?? change.from, held: role })
  })
