/** The roles that a branch's Postgres has to know now, as `ComputeDriver` takes them. */
import { DateTime, Effect, Option } from "effect"
import type { BranchId } from "../Ids.ts"
import { BranchRoleStore } from "../projects/BranchRoleStore.ts"

export const validRoles = Effect.fnUntraced(function* (branch: BranchId) {
  const roles = yield* (yield* BranchRoleStore).valid(branch, yield* DateTime.now)
  return roles.map(({ access, expires_at, role, verifier }) => ({
    access,
    expires_at: Option.fromNullOr(expires_at),
    role,
    verifier
  }))
})
