/**
 * Brings a compute to the roles of its branch that are valid now, and records its confirmation: the roles that it has,
 * and the ended roles that it no longer has.
 *
 * Pitfall: confirming the roles that have ended when the compute answers. A role that ended in between is still there.
 * Only ended roles that the applied list left out are confirmed.
 */
import { DateTime, Effect, Option } from "effect"
import type { BranchId } from "../Ids.ts"
import type { ComputeRole } from "../records/computes/ComputeDriver.ts"
import type { BranchRole } from "../records/projects/BranchRole.ts"
import { BranchRoleStore } from "../records/projects/BranchRoleStore.ts"
import type { Endpoint } from "../records/projects/Endpoint.ts"
import { EndpointStore } from "../records/projects/EndpointStore.ts"
import { withTwins } from "../records/projects/readOnlyTwin.ts"
import { isAboveQuota } from "../records/quotas/BranchDisk.ts"
import { QuotaPolicy } from "../records/quotas/Quota.ts"
import { QuotaStore } from "../records/quotas/QuotaStore.ts"

const forCompute = ({ access, expires_at, role, verifier }: BranchRole): ComputeRole => ({
  access,
  expires_at: Option.fromNullOr(expires_at),
  role,
  verifier
})

/** The present access of a role. Above the quota of its organization every role only reads (docs/design/api.md A36). */
const accessNow = Effect.fnUntraced(function* (branch: BranchId) {
  const settings = yield* QuotaPolicy
  const disks = yield* (yield* QuotaStore).disksOf([branch])
  const above = disks.some((disk) => isAboveQuota(settings, disk))
  return (role: ComputeRole): ComputeRole => (above ? { ...role, access: "read_only" } : role)
})

/** The roles of a branch that are valid now, as `ComputeDriver` takes them. */
export const validRoles = Effect.fnUntraced(function* (branch: BranchId) {
  const accessOf = yield* accessNow(branch)
  const roles = yield* (yield* BranchRoleStore).valid(branch, yield* DateTime.now)
  return withTwins(roles.map(forCompute), yield* (yield* EndpointStore).ofBranch(branch)).map(accessOf)
})

/**
 * `apply` takes the valid roles, as `ComputeDriver` does, and the endpoints of the branch. It returns once the compute has
 * these roles and no others.
 */
export const withValidRoles = Effect.fnUntraced(function* <A, E, R>(
  branch: BranchId,
  apply: (roles: ReadonlyArray<ComputeRole>, endpoints: ReadonlyArray<Endpoint>) => Effect.Effect<A, E, R>
) {
  const store = yield* BranchRoleStore
  const now = yield* DateTime.now
  const { ofBranch } = yield* EndpointStore
  const reads = [store.present(branch), ofBranch(branch), accessNow(branch)] as const
  const [present, endpoints, accessOf] = yield* Effect.all(reads, { concurrency: 3 })
  const valid = present.filter((role) => role.validAt(now))
  const answer = yield* apply(withTwins(valid.map(forCompute), endpoints).map(accessOf), endpoints)
  const applied = valid.filter((role) => role.applied_at === null).map(({ role }) => role)
  const removed = present.filter((role) => !role.validAt(now)).map(({ role }) => role)
  if (applied.length + removed.length > 0) yield* store.confirm(branch, { applied, removed }, yield* DateTime.now)
  return answer
})
