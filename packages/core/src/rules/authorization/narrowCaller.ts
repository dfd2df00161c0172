/**
 * A caller, narrowed to the role that the locked membership grants now.
 *
 * A request is admitted before its transaction begins, and in between its caller can be demoted or removed. Where the
 * lost rights could still be used against others, the transaction checks again.
 */
import { Effect } from "effect"
import { Refused } from "../../Refusals.ts"
import { lacksPermission } from "./decide.ts"
import type { Permission } from "./Permission.ts"
import type { AnyCaller } from "./Principal.ts"
import type { RoleTable } from "./Roles.ts"

/** `role` as stored; `null`: no longer a member. A promotion adds nothing here. */
export const narrowCaller = (caller: AnyCaller, role: string | null, roles: RoleTable): AnyCaller => {
  const granted = roles.permissionsOf(role ?? "")
  const held = caller.organization.role
  return {
    ...caller,
    organization: {
      ...caller.organization,
      role: role !== null && held !== null && roles.covers(role, held) ? held : role
    },
    permissions: new Set([...caller.permissions].filter((permission) => granted.has(permission)))
  }
}

/** Refuses a caller who is no longer a member, or whose role no longer grants the permission. */
export const stillMay = (caller: AnyCaller, permission: Permission): Effect.Effect<void, Refused> => {
  if (caller.organization.role === null)
    return Effect.fail(new Refused({ code: "not_a_member", required: "membership", held: null }))
  const refusal = lacksPermission(caller, permission)
  return refusal === undefined ? Effect.void : Effect.fail(new Refused(refusal))
}
