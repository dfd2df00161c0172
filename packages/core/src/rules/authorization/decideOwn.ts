/**
 * Whether a caller has one of the host's own permissions: `decide`, with the own permission in the place of a built-in
 * one (docs/design/authorization.md Z47).
 */
import { Effect } from "effect"
import { Refused } from "../../Refusals.ts"
import { decide, type PathIds, type Refusal } from "./decide.ts"
import type { CredentialPolicy } from "./Policy.ts"
import type { AnyCaller } from "./Principal.ts"
import { Roles, type RoleTable } from "./Roles.ts"

/** The objects of the control plane that the host's own object belongs to. Without any: to the organization. */
export type OwnIds = Pick<PathIds, "project_id" | "branch_id">

/**
 * `undefined`: the caller may. Refused in the order of Z6; an undeclared permission is one that no role has. Nothing is
 * looked up: the host knows whether its object belongs to the caller's organization.
 */
export const decideOwn = (
  roles: RoleTable,
  permission: string,
  caller: AnyCaller,
  ids: OwnIds = {}
): Refusal | undefined => {
  const effect = roles.effectOf(permission) ?? "admin"
  const reach = ids.branch_id !== undefined ? "branch" : ids.project_id !== undefined ? "project" : "organization"
  const policy: CredentialPolicy = {
    _tag: "Credential",
    kind: "any",
    effect,
    permission: null,
    target: "none",
    reach,
    agent: effect === "read" ? "any" : "never",
    pending: false,
    ex_member: false
  }
  const refusal = decide(policy, caller, ids)
  if (refusal !== undefined) return refusal
  const { role } = caller.organization
  return role !== null && roles.ownPermissionsOf(role).has(permission)
    ? undefined
    : { code: "role_insufficient", required: permission, held: role }
}

/** Refuses a caller without the own permission. */
export const requireOwn = (permission: string, caller: AnyCaller, ids: OwnIds = {}): Effect.Effect<void, Refused> =>
  Effect.flatMap(Roles, (roles) => {
    const refusal = decideOwn(roles, permission, caller, ids)
    return refusal === undefined ? Effect.void : new Refused(refusal)
  })
