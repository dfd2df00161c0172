/** Port: the roles minted for branches. A role is identified by its branch and its name. */
import { Context, type DateTime, Effect, Layer } from "effect"
import type { BranchId } from "../Ids.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { StorageError } from "../StorageError.ts"
import { BranchRole } from "./BranchRole.ts"

export class BranchRoleStore extends Context.Service<
  BranchRoleStore,
  {
    readonly insert: (role: BranchRole) => Effect.Effect<void, StorageError>
    /** The roles that are neither revoked nor expired at `now`, oldest first. */
    readonly valid: (branch: BranchId, now: DateTime.Utc) => Effect.Effect<ReadonlyArray<BranchRole>, StorageError>
    /** Revokes the roles that agents minted on a branch. Returns how many. */
    readonly revokeAgentRoles: (branch: BranchId, now: DateTime.Utc) => Effect.Effect<number, StorageError>
  }
>()("@narthex/core/projects/BranchRoleStore") {
  static readonly layerMemory: Layer.Layer<BranchRoleStore, never, MemoryStorage> = Layer.effect(
    BranchRoleStore,
    Effect.gen(function* () {
      const roles = (yield* MemoryStorage).table<BranchRole>("branch_role")
      const keyOf = (role: BranchRole) => `${role.branch_id} ${role.role}`
      return BranchRoleStore.of({
        insert: (role) => roles.put(keyOf(role), role),
        valid: (branch, now) =>
          Effect.map(roles.all, (rows) =>
            rows
              .filter((row) => row.branch_id === branch && row.validAt(now))
              .toSorted(
                (a, b) => a.created_at.epochMilliseconds - b.created_at.epochMilliseconds || (a.role < b.role ? -1 : 1)
              )
          ),
        revokeAgentRoles: (branch, now) =>
          roles.modify((rows) => {
            const found = rows.filter(
              (row) => row.branch_id === branch && row.minted_by_agent && row.revoked_at === null
            )
            return [found.length, found.map((row) => [keyOf(row), new BranchRole({ ...row, revoked_at: now })])]
          })
      })
    })
  )
}
