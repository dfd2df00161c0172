/**
 * The data of branches: made empty or as a copy, replaced, removed.
 *
 * A copy is a volume snapshot of the parent's one volume, whether its server runs or not: a server that starts on it
 * recovers as after a crash. A branch that is reset gets another cluster, and its earlier one is removed once the new data
 * are complete.
 */
import { type BranchId, ComputeFence, defaultSize, SizeCatalog } from "@narthex/core"
import { Effect, Option } from "effect"
import type { ApiClient } from "../api/ApiClient.ts"
import { isAlreadyThere } from "../api/ApiFailure.ts"
import { clusterManifest, type Origin } from "../objects/clusterManifest.ts"
import { currentOf, dataOf, fenceOf, isReady } from "../objects/clusterState.ts"
import type { Chosen } from "../objects/KubernetesOptions.ts"
import { clusterName, isNameable, label } from "../objects/names.ts"
import { type ClusterObject, clusters } from "../objects/resources.ts"
import type { BranchObjects } from "./BranchObjects.ts"
import type { BranchRoles } from "./branchRoles.ts"
import type { ClusterChanges } from "./ClusterChanges.ts"
import { again, refused } from "./failures.ts"
import type { BranchHomes } from "./Homes.ts"

interface Means {
  readonly client: ApiClient
  readonly options: Chosen
  readonly objects: BranchObjects
  readonly changes: ClusterChanges
  readonly roles: BranchRoles
  readonly homes: BranchHomes
}

export const nameable = (id: string) =>
  isNameable(id) ? Effect.void : Effect.fail(refused(`${id} cannot be part of a name.`))

/** The cluster with the data of a branch, which has to have some. */
export const currentData = (objects: BranchObjects) =>
  Effect.fnUntraced(function* (branch: BranchId) {
    yield* nameable(branch)
    return (yield* objects.dataOf(branch)) ?? (yield* refused(`The branch ${branch} has no data.`))
  })

export const branchData = ({ changes, client, homes, objects, options, roles }: Means) => {
  const { change } = changes

  /** Makes a cluster, unless a call before this one has. The cluster has to be `change`d before it is used. */
  const createCluster = Effect.fnUntraced(function* (
    branch: BranchId,
    data: number,
    fence: number,
    namespace: string,
    origin: Origin
  ) {
    // Most endpoints start with the default size, and the pod that makes the data can go on for them.
    const size = defaultSize(yield* SizeCatalog)
    const manifest = clusterManifest(options, { namespace, branch, data, fence, origin, size })
    return yield* client
      .create(clusters, namespace, manifest)
      .pipe(
        Effect.catchIf(isAlreadyThere, () =>
          Effect.flatMap(client.get(clusters, namespace, clusterName(branch, data)), (found) =>
            Option.isSome(found) && objects.isOurs(found.value)
              ? change(found.value)
              : Effect.fail(again("The branch was removed at the same time, or its name is taken."))
          )
        )
      )
  })

  const finished = (cluster: ClusterObject) =>
    Effect.andThen(
      objects.made(cluster),
      change(cluster, (now) => (isReady(now) ? undefined : { labels: { [label.ready]: "true" } }))
    )

  /** Makes a cluster with a copy of the parent's data. `fence` is the least one that it has seen. */
  const copied = Effect.fnUntraced(function* (branch: BranchId, data: number, fence: number, parent: ClusterObject) {
    const name = clusterName(branch, data)
    const namespace = parent.metadata.namespace ?? options.namespace
    yield* objects.snapshot(branch, name, parent)
    const cluster = yield* createCluster(branch, data, fence, namespace, { is: "copy", snapshot: name, parent })
    const ready = yield* finished(cluster)
    yield* objects.removeSnapshots(branch)
    return ready
  })

  const parentOf = Effect.fnUntraced(function* (branch: BranchId, parent: BranchId) {
    if (branch === parent) return yield* refused(`Branch ${branch} cannot be a copy of itself.`)
    return (yield* objects.dataOf(parent)) ?? (yield* refused(`The parent branch ${parent} has no data.`))
  })

  const createBranch = Effect.fn("BranchData.createBranch")(function* (
    branch: BranchId,
    parent: Option.Option<BranchId>
  ) {
    yield* nameable(branch)
    const present = yield* objects.clustersOf(branch)
    const [begun] = present
    if (begun !== undefined) {
      const current = yield* change(currentOf(present) ?? begun)
      if (!isReady(current)) yield* finished(current)
      return yield* objects.removeSnapshots(branch)
    }
    const fence = (yield* ComputeFence) ?? 0
    if (Option.isSome(parent)) {
      return yield* Effect.asVoid(copied(branch, 1, fence, yield* parentOf(branch, parent.value)))
    }
    yield* finished(yield* createCluster(branch, 1, fence, yield* homes.home, { is: "empty" }))
  })

  const resetBranch = Effect.fn("BranchData.resetBranch")(function* (branch: BranchId, parent: BranchId) {
    const current = yield* currentData(objects)(branch)
    const source = yield* parentOf(branch, parent)
    yield* roles.stopAll(current)
    const others = (yield* objects.clustersOf(branch)).filter((it) => it.metadata.uid !== current.metadata.uid)
    yield* objects.removeClusters(branch, others)
    const stopped = yield* change(current)
    yield* copied(branch, dataOf(current) + 1, fenceOf(stopped), source)
    // The branch has the new data from this patch on, which a call that was overtaken cannot make.
    const replaced = yield* change(current, () => ({ labels: { [label.replaced]: "true" } }))
    yield* objects.removeClusters(branch, [replaced])
  })

  const deleteBranch = Effect.fn("BranchData.deleteBranch")(function* (branch: BranchId) {
    if (!isNameable(branch)) return
    const present = yield* objects.clustersOf(branch)
    for (const cluster of present) {
      if (cluster.metadata.deletionTimestamp === undefined) yield* change(cluster)
    }
    yield* objects.removeClusters(branch, present)
    yield* objects.removeSnapshots(branch)
  })

  return { createBranch, deleteBranch, resetBranch }
}
