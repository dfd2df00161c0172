/**
 * `ComputeDriver` on Kubernetes: a cluster of CloudNativePG with one instance for each branch, which serves all endpoints of
 * the branch (docs/design/kubernetes.md).
 *
 * All state is in the API server (`objects/names.ts`), so any number of runners may use it, and one that starts after a crash
 * finds it. A suspended branch hibernates: its claim stays, and it has no pod. The address of a compute is that of its pod;
 * TLS that is verified against the authority of this one cluster keeps an address that another pod has got from leading
 * anywhere.
 *
 * Pitfall: ending sessions with their address. While other endpoints of the branch run, stopping one removes its
 * address only; its sessions are for the relay to end.
 */
import { type BranchId, ComputeDriver, type ComputeStart } from "@narthex/core"
import { Effect, Layer, Schedule } from "effect"
import type { ApiAccess } from "../access/ApiAccess.ts"
import { unusable } from "../access/KubernetesUnusable.ts"
import { openApiClient } from "../api/ApiClient.ts"
import { chosen, type KubernetesOptions } from "../objects/KubernetesOptions.ts"
import { isNameable } from "../objects/names.ts"
import { branchObjects } from "./BranchObjects.ts"
import { branchData } from "./branchData.ts"
import { branchRoles } from "./branchRoles.ts"
import { clusterChanges } from "./ClusterChanges.ts"
import { type ComputeLimits, defaultComputeLimits } from "./ComputeLimits.ts"
import { endpoints } from "./endpoints.ts"
import { asComputeFailed } from "./failures.ts"
import { branchHomes } from "./Homes.ts"
import { preflight } from "./preflight.ts"
import { runningComputes } from "./runningComputes.ts"

export interface KubernetesComputeOptions extends KubernetesOptions {
  readonly access: ApiAccess
  readonly limits?: Partial<ComputeLimits> | undefined
}

/** The driver, once the Kubernetes cluster has everything that it needs. It stops no compute when the scope closes. */
export const layer = (options: KubernetesComputeOptions) => Layer.effect(ComputeDriver, make(options))

/** Fails with everything that the driver misses in the Kubernetes cluster. It changes nothing. */
export const check = Effect.fn("KubernetesComputeDriver.check")(function* ({
  access,
  limits: _,
  ...options
}: KubernetesComputeOptions) {
  yield* preflight(yield* openApiClient(access), chosen(options))
}, Effect.scoped)

/** How often clusters are looked for that no endpoint uses. */
const sweepEach = "1 minute"

const make = Effect.fn("KubernetesComputeDriver.make")(function* ({
  access,
  limits: given,
  ...rest
}: KubernetesComputeOptions) {
  const options = chosen(rest)
  const limits = { ...defaultComputeLimits, ...given }
  const client = yield* openApiClient(access)
  yield* preflight(client, options)
  const homes = branchHomes(client, options, access.ownNamespace)
  const changes = clusterChanges(client)
  const objects = branchObjects(client, options, limits)
  const roles = branchRoles(client, objects, changes, limits)

  const computes = runningComputes(client, objects, roles)
  const { createBranch, deleteBranch, resetBranch } = branchData({ client, options, objects, changes, roles, homes })
  const { start, stop, sweep } = endpoints({ options, objects, changes, roles, computes })

  const applyRoles = Effect.fn("KubernetesComputeDriver.applyRoles")(function* (
    branch: BranchId,
    list: ComputeStart["roles"]
  ) {
    const current = yield* objects.dataOf(branch)
    if (current !== undefined) yield* roles.onRunning(yield* changes.change(current), list)
  })

  const needsRoles = Effect.fn("KubernetesComputeDriver.needsRoles")(function* (
    branch: BranchId,
    list: ComputeStart["roles"]
  ) {
    if (!isNameable(branch)) return false
    const current = yield* objects.dataOf(branch)
    return current === undefined ? false : yield* roles.needs(current, list)
  })

  if (!options.per_organization)
    yield* Effect.mapError(homes.isolate(options.namespace), ({ message }) => unusable(message))
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEach)))

  return ComputeDriver.of({
    createBranch: (branch, parent) => asComputeFailed(createBranch(branch, parent)),
    resetBranch: (branch, parent) => asComputeFailed(resetBranch(branch, parent)),
    deleteBranch: (branch) => asComputeFailed(deleteBranch(branch)),
    start: (wanted) => asComputeFailed(start(wanted)),
    stop: (endpoint) => asComputeFailed(stop(endpoint)),
    applyRoles: (branch, list) => asComputeFailed(applyRoles(branch, list)),
    needsRoles: (branch, list) => asComputeFailed(needsRoles(branch, list)),
    running: asComputeFailed(computes.running),
    diskUsage: asComputeFailed(computes.diskUsage)
  })
})
