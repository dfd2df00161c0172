/**
 * Port: the roles minted for branches. A role is identified by its branch and its name.
 *
 * A role ends when it is revoked or expires. Its row says so at once; the compute follows. Until it is confirmed that
 * no compute has the role any more (`removed_at`), `ending` finds its branch.
 */
import { Context, type DateTime, Effect, Layer, type Option } from "effect"
import type { ApiKeyId, BranchId, OrgId, ProjectId, UserId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import type { UserRef } from "../accounts/UserRef.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { type Access, BranchRole } from "./BranchRole.ts"

/** The owner of roles: the key that minted them, or the person who minted them, also through keys. */
export type RoleOwner = { readonly api_key_id: ApiKeyId } | { readonly user_id: UserId }

/** Which roles to revoke at once. */
export type RolesToEnd =
  | { readonly branch_id: BranchId; readonly role: string }
  | { readonly branch_id: BranchId }
  | { readonly project_id: ProjectId }
  | { readonly api_key_ids: ReadonlyArray<ApiKeyId> }
  /** In one organization, all or those with this access; `org_id` left out: in every organization. */
  | { readonly user_id: UserId; readonly org_id?: OrgId; readonly access?: Access }

/** A place in a list, newest first: after this role. */
export interface RolePosition {
  readonly created_at: DateTime.Utc
  readonly role: string
}

export interface RolePage {
  readonly limit: number
  readonly after: RolePosition | null
}

export interface BranchRef {
  readonly branch_id: BranchId
  readonly project_id: ProjectId
}

export class BranchRoleStore extends Context.Service<
  BranchRoleStore,
  {
    readonly insert: (role: BranchRole) => Effect.Effect<void, StorageError>
    readonly find: (branch: BranchId, role: string) => Effect.Effect<Option.Option<BranchRole>, StorageError>
    /** The roles that are neither revoked nor expired at `now`, oldest first. */
    readonly valid: (branch: BranchId, now: DateTime.Utc) => Effect.Effect<ReadonlyArray<BranchRole>, StorageError>
    /** The roles of a branch that are not removed, ended ones included, oldest first: what a compute may have. */
    readonly present: (branch: BranchId) => Effect.Effect<ReadonlyArray<BranchRole>, StorageError>
    /** At most `limit` of `present`, newest first; `owner` null: of every owner. */
    readonly list: (
      branch: BranchId,
      owner: RoleOwner | null,
      page: RolePage
    ) => Effect.Effect<ReadonlyArray<BranchRole>, StorageError>
    /** A member's valid roles in an organization: how many there are, and the newest of them, at most `limit`. */
    readonly ofMember: (
      org: OrgId,
      user: UserId,
      now: DateTime.Utc,
      limit: number
    ) => Effect.Effect<{ readonly count: number; readonly roles: ReadonlyArray<BranchRole> }, StorageError>
    /** Revokes the read-write roles that agents minted on a branch. Returns how many. */
    readonly revokeAgentRoles: (branch: BranchId, now: DateTime.Utc) => Effect.Effect<number, StorageError>
    /** Revokes every matching role that is not revoked yet. Returns how many. */
    readonly revoke: (which: RolesToEnd, now: DateTime.Utc) => Effect.Effect<number, StorageError>
    /** Gives a member's valid roles in an organization to another person. They no longer belong to a key. */
    readonly handOver: (org: OrgId, from: UserId, to: UserRef, now: DateTime.Utc) => Effect.Effect<number, StorageError>
    /** Records what a compute confirmed: roles that it has, and roles that it no longer has. */
    readonly confirm: (
      branch: BranchId,
      confirmed: { readonly applied: ReadonlyArray<string>; readonly removed: ReadonlyArray<string> },
      now: DateTime.Utc
    ) => Effect.Effect<void, StorageError>
    /**
     * Branches with a role that has ended and is not removed, in the order of their ids, after `after`; at most
     * `limit`.
     */
    readonly ending: (
      now: DateTime.Utc,
      after: BranchId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<BranchRef>, StorageError>
  }
>()("@narthex/core/records/projects/BranchRoleStore") {
  static readonly layerMemory: Layer.Layer<BranchRoleStore, never, MemoryStorage> = Layer.effect(
    BranchRoleStore,
    Effect.gen(function* () {
      const roles = (yield* MemoryStorage).table<BranchRole>("branch_role")
      const keyOf = (branch: BranchId, role: string) => `${branch} ${role}`
      const oldestFirst = (a: RolePosition, b: RolePosition) =>
        a.created_at.epochMilliseconds - b.created_at.epochMilliseconds || (a.role < b.role ? -1 : 1)
      const where = (matches: (row: BranchRole) => boolean) =>
        Effect.map(roles.all, (rows) => rows.filter(matches).toSorted(oldestFirst))
      const changed = (matches: (row: BranchRole) => boolean, change: (row: BranchRole) => Partial<BranchRole>) =>
        roles.modify((rows) => {
          const found = rows.filter(matches)
          return [
            found.length,
            found.map((row) => [keyOf(row.branch_id, row.role), new BranchRole({ ...row, ...change(row) })])
          ]
        })
      const ofUser = (row: BranchRole, org: OrgId, user: UserId, now: DateTime.Utc) =>
        row.org_id === org && row.minted_by?.id === user && row.validAt(now)

      return BranchRoleStore.of({
        insert: (role) => roles.put(keyOf(role.branch_id, role.role), role),
        find: (branch, role) => roles.get(keyOf(branch, role)),
        valid: (branch, now) => where((row) => row.branch_id === branch && row.validAt(now)),
        present: (branch) => where((row) => row.branch_id === branch && row.removed_at === null),
        list: (branch, owner, { after, limit }) =>
          Effect.map(
            where((row) => row.branch_id === branch && row.removed_at === null && isOwned(row, owner)),
            (rows) =>
              rows
                .filter((row) => after === null || oldestFirst(row, after) < 0)
                .toReversed()
                .slice(0, limit)
          ),
        ofMember: (org, user, now, limit) =>
          Effect.map(
            where((row) => ofUser(row, org, user, now)),
            (rows) => ({ count: rows.length, roles: rows.toReversed().slice(0, limit) })
          ),
        revokeAgentRoles: (branch, now) =>
          changed(
            (row) =>
              row.branch_id === branch && row.minted_by_agent && row.access === "read_write" && row.revoked_at === null,
            () => ({ revoked_at: now })
          ),
        revoke: (which, now) =>
          changed(
            (row) => row.revoked_at === null && toEnd(row, which),
            () => ({ revoked_at: now })
          ),
        handOver: (org, from, to, now) =>
          changed(
            (row) => ofUser(row, org, from, now),
            () => ({ minted_by: to, api_key_id: null, api_key_name: null })
          ),
        confirm: (branch, { applied, removed }, now) =>
          Effect.asVoid(
            changed(
              (row) => row.branch_id === branch && (applied.includes(row.role) || removed.includes(row.role)),
              (row) => ({
                applied_at: applied.includes(row.role) ? (row.applied_at ?? now) : row.applied_at,
                removed_at: removed.includes(row.role) ? (row.removed_at ?? now) : row.removed_at
              })
            )
          ),
        ending: (now, after, limit) =>
          Effect.map(roles.all, (rows) => {
            const found = new Map(
              rows
                .filter(
                  (row) => row.removed_at === null && !row.validAt(now) && (after === null || row.branch_id > after)
                )
                .map(({ branch_id, project_id }) => [branch_id, { branch_id, project_id }])
            )
            return [...found.values()].toSorted((a, b) => (a.branch_id < b.branch_id ? -1 : 1)).slice(0, limit)
          })
      })
    })
  )
}

/** Whether the role belongs to this owner. */
export const isOwned = (role: BranchRole, owner: RoleOwner | null): boolean => {
  if (owner === null) return true
  return "api_key_id" in owner ? role.api_key_id === owner.api_key_id : role.minted_by?.id === owner.user_id
}

const toEnd = (row: BranchRole, which: RolesToEnd): boolean => {
  if ("branch_id" in which) return row.branch_id === which.branch_id && (!("role" in which) || row.role === which.role)
  if ("project_id" in which) return row.project_id === which.project_id
  if ("api_key_ids" in which) return row.api_key_id !== null && which.api_key_ids.includes(row.api_key_id)
  return (
    row.minted_by?.id === which.user_id &&
    (which.org_id === undefined || row.org_id === which.org_id) &&
    (which.access === undefined || row.access === which.access)
  )
}
