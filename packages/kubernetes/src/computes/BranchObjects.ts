/** The objects of branches: how they are found, and how their states are awaited. */
import type { BranchId, ComputeFailed } from "@narthex/core"
import { Effect } from "effect"
import type { ApiClient } from "../api/ApiClient.ts"
import { isConflict } from "../api/ApiFailure.ts"
import type { Kept, Namespace, Resource } from "../api/Resource.ts"
import { snapshotManifest } from "../objects/clusterManifest.ts"
import {
  claimOf,
  currentOf,
  instancesOf,
  isHibernating,
  type LivePod,
  liveOf,
  madeOf,
  snappedOf,
  unschedulable
} from "../objects/clusterState.ts"
import type { Chosen } from "../objects/KubernetesOptions.ts"
import { clusterLabel, endpointLabel, label } from "../objects/names.ts"
import { type ClusterObject, clusters, type PodObject, pods, snapshots } from "../objects/resources.ts"
import { compared } from "./ClusterChanges.ts"
import type { ComputeLimits } from "./ComputeLimits.ts"
import { busy, overtaken, refused, within } from "./failures.ts"

const placeOf = ({ metadata }: Kept) => ({ namespace: metadata.namespace ?? null, name: metadata.name })

export const branchObjects = (client: ApiClient, options: Chosen, limits: ComputeLimits) => {
  /** Where the driver's objects are. */
  const everywhere: Namespace = options.per_organization ? null : options.namespace
  const ours = { [label.installation]: options.installation }
  const selected = (labels: Readonly<Record<string, string | null>>) => ({
    namespace: everywhere,
    labels: { ...ours, ...labels }
  })
  const itemsOf = <A extends Kept>(resource: Resource<A>, labels: Readonly<Record<string, string | null>>) =>
    Effect.map(client.list(resource, selected(labels)), ({ items }) => items)

  const clustersOf = (branch: BranchId) => itemsOf(clusters, { [label.branch]: branch })

  /** The cluster with the data of a branch, if there are data. */
  const dataOf = (branch: BranchId) => Effect.map(clustersOf(branch), currentOf)

  const podsOf = ({ metadata }: ClusterObject) => ({
    namespace: metadata.namespace ?? null,
    labels: { [clusterLabel]: metadata.name }
  })

  /** The server's pod that runs now. */
  const podNow = (cluster: ClusterObject) =>
    Effect.map(client.list(pods, podsOf(cluster)), ({ items }) =>
      instancesOf(items)
        .map(liveOf)
        .find((it) => it !== undefined)
    )

  /** Waits until the cluster hibernates, or is gone. */
  const hibernated = (cluster: ClusterObject) =>
    client.awaited(clusters, placeOf(cluster), ([now]) =>
      now === undefined || isHibernating(now) ? "asleep" : undefined
    )

  /** Waits for the pod of a cluster that is to run. Fails when another call has stopped the cluster. */
  const podStarted = (cluster: ClusterObject) =>
    Effect.suspend(() => {
      let why = ""
      const found = client.awaited(pods, podsOf(cluster), (items) => {
        const instances = instancesOf(items)
        why = instances.map(unschedulable).find((it) => it !== undefined) ?? ""
        return instances.map(liveOf).find((it) => it !== undefined)
      })
      const stopped = Effect.flatMap(hibernated(cluster), () => Effect.fail(overtaken))
      const first = Effect.raceFirst(found, stopped)
      return within(first, limits.started_within, "There is no room for this database now.", () => why)
    })

  /** Waits until a pod of the cluster ends. */
  const podEnded = (cluster: ClusterObject, { uid }: LivePod) =>
    client.awaited(pods, podsOf(cluster), (items) =>
      items.some((it) => it.metadata.uid === uid && liveOf(it) !== undefined) ? undefined : "ended"
    )

  /** Waits until no such pod of the cluster is left, or the cluster is to run again. */
  const podsGone = (cluster: ClusterObject, which: (pod: PodObject) => boolean = () => true) => {
    const gone = client.awaited(pods, podsOf(cluster), (items) => (instancesOf(items).some(which) ? undefined : "gone"))
    const wanted = client.awaited(clusters, placeOf(cluster), ([now]) =>
      now === undefined || isHibernating(now) ? undefined : "wanted"
    )
    return within(Effect.raceFirst(gone, wanted), limits.stopped_within, "The database server has not stopped yet.")
  }

  /** Waits for the first data of a cluster. */
  const made = (cluster: ClusterObject) =>
    Effect.gen(function* () {
      const found = client.awaited(clusters, placeOf(cluster), ([now]) =>
        now === undefined ? ({ is: "stuck", forever: false, phase: "It was deleted." } as const) : madeOf(now)
      )
      const state = yield* within(found, limits.made_within, "The data of the branch were not ready in time.")
      if (state.is === "made") return
      return yield* state.forever
        ? refused("The data of the branch cannot be made; the operator has to look at it.", state.phase)
        : busy("There is no room for the data of the branch now.", state.phase)
    })

  /** Asks for the deletion of objects as they are now. An object that changes at the same time is asked for again. */
  const removed = <A extends Kept>(
    resource: Resource<A>,
    labels: Readonly<Record<string, string | null>>,
    which: (item: A) => boolean,
    allowed: (item: A) => Effect.Effect<unknown, ComputeFailed> = () => Effect.void
  ) =>
    Effect.gen(function* () {
      const remove = Effect.gen(function* () {
        for (const item of (yield* itemsOf(resource, labels)).filter(which)) {
          if (item.metadata.deletionTimestamp !== undefined) continue
          yield* allowed(item)
          yield* client.remove(resource, item)
        }
      })
      yield* Effect.retry(remove, { while: isConflict, times: 50 })
      const gone = client.awaited(resource, selected(labels), (items) => (items.some(which) ? undefined : "gone"))
      yield* within(gone, limits.removed_within, "The data of the branch were not removed yet.")
    })

  /** Removes clusters of a branch with their data, and waits until they and their pods are gone. */
  const removeClusters = Effect.fnUntraced(function* (branch: BranchId, which: ReadonlyArray<ClusterObject>) {
    const names = new Set(which.map(({ metadata }) => metadata.name))
    const labels = { [label.branch]: branch }
    yield* removed(clusters, labels, ({ metadata }) => names.has(metadata.name), compared)
    const gone = client.awaited(pods, selected(labels), (items) =>
      items.some(({ metadata }) => names.has(metadata.labels?.[clusterLabel] ?? "")) ? undefined : "gone"
    )
    yield* within(gone, limits.removed_within, "The database server has not stopped yet.")
  })

  const removeSnapshots = (branch: BranchId) => removed(snapshots, { [label.branch]: branch }, () => true)

  /** A snapshot of the data of a parent as they are now. An earlier one of the branch is removed. */
  const snapshot = Effect.fnUntraced(function* (branch: BranchId, name: string, parent: ClusterObject) {
    yield* removeSnapshots(branch)
    const namespace = parent.metadata.namespace ?? options.namespace
    const claim = claimOf(parent)
    yield* client.create(snapshots, namespace, snapshotManifest(options, { name, namespace, branch, claim }))
    const state = client.awaited(snapshots, { namespace, name }, ([now]) =>
      now === undefined ? undefined : snappedOf(now)
    )
    const snapped = yield* within(state, limits.snapped_within, "The parent's data were not copied in time.")
    if (snapped.is === "failed") return yield* busy("The parent's data cannot be copied now.", snapped.why)
  })

  return {
    isOurs: ({ metadata }: ClusterObject) => metadata.labels?.[label.installation] === options.installation,
    clustersOf,
    dataOf,
    made,
    podEnded,
    podNow,
    podStarted,
    podsGone,
    removeClusters,
    removeSnapshots,
    snapshot,
    /** The clusters with an endpoint. */
    withEndpoint: (endpoint: string) => itemsOf(clusters, { [endpointLabel(endpoint)]: null }),
    /** The clusters with any endpoint that is not stopped. */
    inUse: itemsOf(clusters, { [label.running]: "true" }),
    instances: Effect.map(itemsOf(pods, {}), instancesOf)
  }
}

export type BranchObjects = ReturnType<typeof branchObjects>
