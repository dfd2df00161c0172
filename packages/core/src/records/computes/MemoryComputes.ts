/**
 * The reference implementation of `ComputeDriver`: records which branches exist, which computes run and which roles were
 * applied, and starts nothing. Its addresses cannot be connected to. `NARTHEX_COMPUTE=memory` and the tests use it.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { BranchId, EndpointId } from "../../Ids.ts"
import { type Compute, ComputeDriver, ComputeFailed, type ComputeRole } from "./ComputeDriver.ts"
import { ComputeFence } from "./ComputeFence.ts"

/** About what a cluster without tables takes: every branch here, because nothing is written. */
const emptyBytes = 32 * 1024 ** 2

/**
 * Computes that run nothing: every state is reached at once. For tests.
 *
 * @example
 * import { layerMemoryComputes } from "@narthex/core"
 * import { createControlPlane } from "narthex"
 * await using cp = await createControlPlane({ computes: layerMemoryComputes })
 */
export const layerMemoryComputes: Layer.Layer<ComputeDriver> = Layer.sync(ComputeDriver, () => {
  const branches = new Set<BranchId>()
  const computes = new Map<EndpointId, Compute>()
  /** The roles that were applied last; they count while a compute of the branch runs. */
  const applied = new Map<BranchId, ReadonlyArray<string>>()
  const listOf = (roles: ReadonlyArray<ComputeRole>) =>
    roles
      .map(({ access, expires_at, role, verifier }) =>
        JSON.stringify([role, access, verifier, Option.getOrNull(Option.map(expires_at, DateTime.formatIso))])
      )
      .toSorted()

  /** The highest fence of a branch. */
  const fences = new Map<BranchId, number>()
  const fenced = <A>(branch: BranchId, call: Effect.Effect<A, ComputeFailed>) =>
    Effect.flatMap(ComputeFence, (fence) => {
      if (fence !== null && fence < (fences.get(branch) ?? fence)) {
        return new ComputeFailed({
          reason: "A later request has taken over this branch.",
          retryable: true,
          busy: true
        })
      }
      if (fence !== null) fences.set(branch, fence)
      return call
    })

  const gone = (branch: BranchId) => new ComputeFailed({ reason: `Branch ${branch} has no data.`, retryable: false })
  const runs = (branch: BranchId) => [...computes.values()].some((compute) => compute.branch_id === branch)
  const apply = (branch: BranchId, roles: ReadonlyArray<ComputeRole>) => void applied.set(branch, listOf(roles))
  const stopAll = (branch: BranchId) => {
    for (const compute of computes.values()) if (compute.branch_id === branch) computes.delete(compute.endpoint_id)
  }

  return ComputeDriver.of({
    createBranch: (branch, parent) => {
      const create = Effect.suspend(() => {
        const missing = branches.has(branch) ? undefined : Option.getOrUndefined(parent)
        if (missing !== undefined && !branches.has(missing)) return gone(missing)
        return Effect.sync(() => void branches.add(branch))
      })
      return fenced(branch, create)
    },
    resetBranch: (branch, parent) => {
      const reset = Effect.suspend(() => {
        const missing = [branch, parent].find((id) => !branches.has(id))
        return missing === undefined ? Effect.sync(() => stopAll(branch)) : gone(missing)
      })
      return fenced(branch, reset)
    },
    deleteBranch: (branch) => {
      const remove = Effect.sync(() => {
        stopAll(branch)
        branches.delete(branch)
      })
      return fenced(branch, remove)
    },
    start: ({ branch_id, endpoint_id, generation, roles }) => {
      const start = Effect.suspend(() => {
        if (!branches.has(branch_id)) return gone(branch_id)
        const compute = { endpoint_id, branch_id, generation, address: `memory.invalid:${generation}` }
        computes.set(endpoint_id, compute)
        apply(branch_id, roles)
        return Effect.succeed(compute)
      })
      return fenced(branch_id, start)
    },
    stop: (endpoint) =>
      Effect.suspend(() => {
        const compute = computes.get(endpoint)
        const stop = Effect.sync(() => void computes.delete(endpoint))
        return compute === undefined ? Effect.void : fenced(compute.branch_id, stop)
      }),
    applyRoles: (branch, roles) => {
      const change = Effect.sync(() => {
        if (runs(branch)) apply(branch, roles)
      })
      return fenced(branch, change)
    },
    needsRoles: (branch, roles) =>
      Effect.sync(() => runs(branch) && listOf(roles).join() !== applied.get(branch)?.join()),
    running: Effect.sync(() => [...computes.values()]),
    diskUsage: Effect.sync(() => [...branches].map((branch_id) => ({ branch_id, bytes: emptyBytes })))
  })
})
