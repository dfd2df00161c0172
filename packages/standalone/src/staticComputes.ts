/**
 * Computes that somebody else runs (`NARTHEX_COMPUTE=static`): a fixed list of addresses, one a branch in the order in
 * which branches come to need one. They are always on; starting and stopping only gives them out and takes them back.
 *
 * It stops at roles: whoever runs these servers makes them, so minting says that it cannot.
 */
import { type BranchId, type Compute, ComputeDriver, ComputeFailed, type EndpointId } from "@narthex/core"
import { Effect, Layer } from "effect"

export const layerStaticComputes = (addresses: ReadonlyArray<string>): Layer.Layer<ComputeDriver> =>
  Layer.sync(ComputeDriver, () => {
    const given = new Map<BranchId, string>()
    const computes = new Map<EndpointId, Compute>()

    const addressOf = (branch: BranchId) => {
      const free = addresses.find((address) => ![...given.values()].includes(address))
      const address = given.get(branch) ?? free
      if (address !== undefined) given.set(branch, address)
      return address
    }
    const cannot = (reason: string) => Effect.fail(new ComputeFailed({ reason, retryable: false }))

    return ComputeDriver.of({
      createBranch: () => Effect.void,
      resetBranch: () => cannot("Static computes cannot be reset."),
      deleteBranch: (branch) => Effect.sync(() => void given.delete(branch)),
      start: ({ branch_id, endpoint_id, generation }) => {
        const address = addressOf(branch_id)
        if (address === undefined) return cannot("Every address of NARTHEX_STATIC_ENDPOINTS is in use.")
        const compute = { endpoint_id, branch_id, generation, address }
        computes.set(endpoint_id, compute)
        return Effect.succeed(compute)
      },
      stop: (endpoint) => Effect.sync(() => void computes.delete(endpoint)),
      applyRoles: () => cannot("Static computes have roles of their own; none can be minted."),
      running: Effect.sync(() => [...computes.values()])
    })
  })
