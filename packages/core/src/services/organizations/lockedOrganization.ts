/**
 * The organization of a caller under its lock, and the caller narrowed to the role that is stored now.
 *
 * The lock serializes changes of members and invitations with the end of the organization. A caller who was demoted or
 * removed after the request was admitted is refused here.
 */
import { Effect, Option } from "effect"
import { type NotFound, orNotFound, type Refused } from "../../Refusals.ts"
import type { AccountStore } from "../../records/accounts/AccountStore.ts"
import type { Organization } from "../../records/accounts/Organization.ts"
import { narrowCaller, stillMay } from "../../rules/authorization/narrowCaller.ts"
import type { Permission } from "../../rules/authorization/Permission.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { Roles } from "../../rules/authorization/Roles.ts"
import type { StorageError } from "../../StorageError.ts"

export interface LockedOrganization {
  readonly caller: AnyCaller
  readonly organization: Organization
}

/** Refuses a caller whose role no longer grants the permission. Run it in a transaction. */
export const lockedOrganization = (
  accounts: AccountStore["Service"]
): ((
  admitted: AnyCaller,
  permission: Permission
) => Effect.Effect<LockedOrganization, NotFound | Refused | StorageError>) =>
  Effect.fnUntraced(function* (admitted, permission) {
    const organization = yield* orNotFound(accounts.lockOrganization(admitted.org_id))
    const membership = yield* accounts.findMembership(admitted.org_id, admitted.user.id)
    const role = Option.match(membership, { onNone: () => null, onSome: (it) => it.role })
    const caller = narrowCaller(admitted, role, yield* Roles)
    yield* stillMay(caller, permission)
    return { caller, organization }
  })
