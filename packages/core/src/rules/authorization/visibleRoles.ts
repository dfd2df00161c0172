/**
 * The database credentials that a caller sees and may revoke (docs/design/authorization.md Z41). An agent key has the
 * credentials that it minted. A caller who manages credentials has all, any other caller those of its user and of that
 * user's keys.
 */
import type { RoleOwner } from "../../records/projects/BranchRoleStore.ts"
import type { AnyCaller } from "./Principal.ts"

/** The owner to whom the caller is limited; `null`: none. */
export const visibleRoles = (caller: AnyCaller): RoleOwner | null => {
  if (caller.kind === "api_key" && caller.capability === "agent") return { api_key_id: caller.api_key_id }
  return caller.permissions.has("manage_credentials") ? null : { user_id: caller.user.id }
}
