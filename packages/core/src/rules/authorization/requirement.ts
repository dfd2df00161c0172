/**
 * The policy of a host's own endpoint: a permission, and the object that it is asked for (docs/design/library.md
 * N26–N28).
 *
 * The API's endpoints have finer policies. Where their policies for one permission differ, a requirement is the
 * strictest of them.
 *
 * Pitfall: asking for a permission without a target and acting on one object. The answer is about the organization.
 */
import type { PathIds } from "./decide.ts"
import { width } from "./decide.ts"
import type { Permission } from "./Permission.ts"
import type { CallEffect, CredentialPolicy, Reach, TargetKind } from "./Policy.ts"

/** The strictest effect of the calls that ask for a permission, and the narrowest scope that reaches one. */
const uses: Record<Permission, { readonly effect: CallEffect; readonly reach: Reach; readonly session?: true }> = {
  read: { effect: "read", reach: "branch" },
  mint_read_only: { effect: "mint", reach: "branch" },
  mint_read_write: { effect: "mint", reach: "branch" },
  change_projects: { effect: "write", reach: "branch" },
  create_projects: { effect: "write", reach: "organization" },
  delete_projects: { effect: "destroy", reach: "project" },
  manage_credentials: { effect: "mint", reach: "branch" },
  leave: { effect: "admin", reach: "organization" },
  rename_organization: { effect: "admin", reach: "organization" },
  manage_invitations: { effect: "admin", reach: "organization" },
  manage_members: { effect: "admin", reach: "organization" },
  read_audit: { effect: "read", reach: "organization" },
  manage_webhooks: { effect: "admin", reach: "organization" },
  manage_owners: { effect: "admin", reach: "organization" },
  delete_organization: { effect: "admin", reach: "organization" },
  own_keys: { effect: "admin", reach: "organization", session: true },
  manage_keys: { effect: "admin", reach: "organization", session: true }
}

const wider = (a: Reach, b: Reach): Reach => (width[a] > width[b] ? a : b)

/** The object that ids name, and the narrowest scope of a key that contains it. */
const targetOf = (ids: PathIds): { readonly target: TargetKind; readonly reach: Reach } => {
  if (ids.endpoint_id !== undefined) return { target: "endpoint", reach: "branch" }
  if (ids.operation_id !== undefined) return { target: "operation", reach: "branch" }
  if (ids.branch_id !== undefined) return { target: "branch", reach: "branch" }
  if (ids.project_id !== undefined) return { target: "project", reach: "project" }
  if (ids.user_id !== undefined) return { target: "member", reach: "organization" }
  return { target: ids.org_id === undefined ? "none" : "organization", reach: "organization" }
}

/** The policy of a call that needs this permission on this object; without ids, in the caller's organization. */
export const requirement = (permission: Permission, ids: PathIds): CredentialPolicy => {
  const { effect, reach, session } = uses[permission]
  const named = targetOf(ids)
  return {
    _tag: "Credential",
    kind: session === true ? "session" : "any",
    effect,
    permission,
    target: named.target,
    reach: wider(reach, named.reach),
    agent: permission === "read" ? "any" : "never",
    pending: false,
    ex_member: false
  }
}
