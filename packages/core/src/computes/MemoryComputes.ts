/**
 * The reference implementation of `ComputeDriver`: records which branches exist, which computes run and which roles were
 * applied, and starts nothing. Its addresses cannot be connected to. `NARTHEX_COMPUTE=memory` and the tests use it.
 */
import { Effect, Layer, Option } from "effect"
import type { BranchId, EndpointId } from "../Ids.ts"
import { type Compute, ComputeDriver, ComputeFailed, type ComputeRole } from "./ComputeDriver.ts"

export const layerMemoryComputes: Layer.Layer<ComputeDriver> = Layer.sync(ComputeDriver, () => {
  const branches = new Set<BranchId>()
  const computes = new Map<EndpointId, Compute>()
  /** The roles that were applied last; they count while a compute of the branch runs. */
  const applied = new Map<BranchId, ReadonlyArray<string>>()

  const gone = (branch: BranchId) => new ComputeFailed({ reason: `Branch ${branch} has no data.`, retryable: false })
  const runs = (branch: BranchId) => [...computes.values()].some((compute) => compute.branch_id === branch)
  const apply = (branch: BranchId, roles: ReadonlyArray<ComputeRole>) =>
    void applied.set(branch, roles.map(({ role }) => role).toSorted())
  const stopAll = (branch: BranchId) => {
    for (const compute of computes.values()) if (compute.branch_id === branch) computes.delete(compute.endpoint_id)
  }

  return ComputeDriver.of({
    createBranch: (branch, parent) =>
      Effect.suspend(() => {
        const missing = branches.has(branch) ? undefined : Option.getOrUndefined(parent)
        if (missing !== undefined && !branches.has(missing)) return gone(missing)
        return Effect.sync(() => void branches.add(branch))
      }),
    resetBranch: (branch, parent) =>
      Effect.suspend(() => {
        const missing = [branch, parent].find((id) => !branches.has(id))
        return missing === undefined ? Effect.sync(() => stopAll(branch)) : gone(missing)
      }),
    deleteBranch: (branch) =>
      Effect.sync(() => {
        stopAll(branch)
        branches.delete(branch)
      }),
    start: ({ branch_id, endpoint_id, generation, roles }) =>
      Effect.suspend(() => {
        if (!branches.has(branch_id)) return gone(branch_id)
        const compute = { endpoint_id, branch_id, generation, address: `memory.invalid:${generation}` }
        computes.set(endpoint_id, compute)
        apply(branch_id, roles)
        return Effect.succeed(compute)
      }),
    stop: (endpoint) => Effect.sync(() => void computes.delete(endpoint)),
    applyRoles: (branch, roles) =>
      Effect.sync(() => {
        if (runs(branch)) apply(branch, roles)
      }),
    rolesOf: (branch) => Effect.sync(() => (runs(branch) ? Option.fromNullishOr(applied.get(branch)) : Option.none())),
    running: Effect.sync(() => [...computes.values()]),
    diskUsage: Effect.sync(() => [...branches].map((branch_id) => ({ branch_id, bytes: 0 })))
  })
})
