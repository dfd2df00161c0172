/**
 * The reference implementation of `ComputeDriver`: records which branches exist and which computes run, and starts
 * nothing. Its addresses cannot be connected to. `NARTHEX_COMPUTE=memory` and the tests use it.
 */
import { Effect, Layer, Option } from "effect"
import type { BranchId, EndpointId } from "../Ids.ts"
import { type Compute, ComputeDriver, ComputeFailed } from "./ComputeDriver.ts"

export const layerMemoryComputes: Layer.Layer<ComputeDriver> = Layer.sync(ComputeDriver, () => {
  const branches = new Set<BranchId>()
  const computes = new Map<EndpointId, Compute>()

  const gone = (branch: BranchId) => new ComputeFailed({ reason: `Branch ${branch} has no data.`, retryable: false })
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
    start: ({ branch_id, endpoint_id, generation }) =>
      Effect.suspend(() => {
        if (!branches.has(branch_id)) return gone(branch_id)
        const compute = { endpoint_id, branch_id, generation, address: `memory.invalid:${generation}` }
        computes.set(endpoint_id, compute)
        return Effect.succeed(compute)
      }),
    stop: (endpoint) => Effect.sync(() => void computes.delete(endpoint)),
    applyRoles: () => Effect.void,
    running: Effect.sync(() => [...computes.values()])
  })
})
