/**
 * Endpoints: which of them are in use on the cluster of their branch, and with the first and the last one the start and the
 * end of its server.
 */
import type { ComputeStart, EndpointId } from "@narthex/core"
import { Effect } from "effect"
import { runtimePatch } from "../objects/clusterManifest.ts"
import { entriesOf, isHibernating, type LivePod, unschedulable } from "../objects/clusterState.ts"
import type { Chosen } from "../objects/KubernetesOptions.ts"
import { annotation, endpointLabel, entryText, isNameable, label, readEntry } from "../objects/names.ts"
import { hasSize } from "../objects/podResources.ts"
import type { ClusterObject } from "../objects/resources.ts"
import type { BranchObjects } from "./BranchObjects.ts"
import { currentData, nameable } from "./branchData.ts"
import type { BranchRoles } from "./branchRoles.ts"
import type { ClusterChanges } from "./ClusterChanges.ts"
import { refused } from "./failures.ts"
import type { RunningComputes } from "./runningComputes.ts"

interface Means {
  readonly options: Chosen
  readonly objects: BranchObjects
  readonly changes: ClusterChanges
  readonly roles: BranchRoles
  readonly computes: RunningComputes
}

export const endpoints = ({ changes, computes, objects, options, roles }: Means) => {
  const { change } = changes

  /** Whether an endpoint needs the server. An endpoint of a pod that has ended has lost its compute. */
  const isNeeded = (now: ClusterObject, pod: LivePod) =>
    entriesOf(now).some(([, entry]) => entry.is !== "running" || entry.pod === pod.uid)

  const asleep = { [annotation.hibernation]: "on" }

  /** Ends an endpoint on a cluster, and the server with the last one. */
  const stopOn = Effect.fnUntraced(function* (cluster: ClusterObject, endpoint: EndpointId) {
    const own = endpointLabel(endpoint)
    const isLast = (now: ClusterObject) => entriesOf(now).every(([it, { is }]) => it === endpoint || is === "stopping")
    const stopping = yield* change(cluster, (now) => ({
      labels: { [own]: entryText({ is: "stopping" }) },
      ...(isLast(now) ? { annotations: asleep } : {})
    }))
    if (isLast(stopping)) yield* objects.podsGone(stopping)
    yield* change(stopping, (now) => {
      const entry = now.metadata.labels?.[own]
      if (entry === undefined || readEntry(entry).is !== "stopping") return undefined
      const isOnly = entriesOf(now).every(([it]) => it === endpoint)
      return { labels: { [own]: null, ...(isOnly ? { [label.running]: null } : {}) } }
    })
  })

  const stop = Effect.fn("Endpoints.stop")(function* (endpoint: EndpointId) {
    if (!isNameable(endpoint)) return
    for (const cluster of yield* objects.withEndpoint(endpoint)) {
      if (cluster.metadata.deletionTimestamp === undefined) yield* stopOn(cluster, endpoint)
    }
  })

  /**
   * The pod of a cluster that is to run, once its server has the roles. The operator may still end a pod that it has begun
   * to end when the cluster was to hibernate; then the next pod counts.
   */
  const settled = Effect.fnUntraced(function* (cluster: ClusterObject, list: ComputeStart["roles"]) {
    while (true) {
      const found = yield* objects.podStarted(cluster)
      const applied = Effect.raceFirst(roles.atStart(cluster, found, list), objects.podEnded(cluster, found))
      const tried = yield* Effect.result(applied)
      if ((yield* objects.podNow(cluster))?.uid !== found.uid) continue
      return tried._tag === "Success" ? found : yield* tried.failure
    }
  })

  /** Labels without the endpoints that have lost their computes. */
  const withoutLost = (now: ClusterObject, pod: LivePod | undefined) =>
    Object.fromEntries(
      entriesOf(now).flatMap(([it, entry]) =>
        entry.is === "running" && entry.pod !== pod?.uid ? [[endpointLabel(it), null] as const] : []
      )
    )

  /** Takes back the endpoint of a start that has failed, and lets the cluster hibernate if that was the only one. */
  const takenBack = (cluster: ClusterObject, endpoint: EndpointId) =>
    change(cluster, (now) => ({
      labels: {
        [endpointLabel(endpoint)]: null,
        ...(entriesOf(now).every(([it]) => it === endpoint) ? { [label.running]: null } : {})
      },
      ...(entriesOf(now).every(([it]) => it === endpoint) ? { annotations: asleep } : {})
    }))

  const start = Effect.fn("Endpoints.start")(function* (wanted: ComputeStart) {
    const { branch_id, endpoint_id, generation, size = null } = wanted
    yield* nameable(endpoint_id)
    const current = yield* currentData(objects)(branch_id)
    const own = endpointLabel(endpoint_id)
    const entryOf = (now: ClusterObject) => readEntry(now.metadata.labels?.[own] ?? "0")
    const isLater = (now: ClusterObject) => {
      const entry = entryOf(now)
      return entry.is !== "stopping" && entry.generation > generation
    }
    const runs = (now: ClusterObject) => {
      const entry = entryOf(now)
      return entry.is === "running" && entry.generation === generation
    }
    if (size !== null && !hasSize(current.spec, size)) {
      const isUsed = (now: ClusterObject) =>
        isLater(now) || runs(now) || entriesOf(now).some(([it, { is }]) => it !== endpoint_id && is !== "stopping")
      const ending = yield* change(current, (now) =>
        isHibernating(now) || isUsed(now) ? undefined : { annotations: asleep }
      )
      // The operator replaces a pod that no node takes, and later one that runs.
      if (isHibernating(ending)) yield* objects.podsGone(ending, (pod) => unschedulable(pod) === undefined)
    }
    const starting = yield* change(current, (now) => {
      if (isLater(now)) return undefined
      return {
        labels: { [label.running]: "true", ...(runs(now) ? {} : { [own]: entryText({ is: "starting", generation }) }) },
        annotations: { [annotation.hibernation]: "off" },
        // The operator would restart a server that runs.
        ...(isHibernating(now) ? { spec: runtimePatch(options, now.spec, size) } : {})
      }
    })
    if (isLater(starting)) {
      return yield* refused(`A later generation of ${endpoint_id} than ${generation} was started.`)
    }
    const run = Effect.gen(function* () {
      const pod = yield* settled(starting, wanted.roles)
      const entry = entryText({ is: "running", generation, pod: pod.uid })
      yield* change(starting, (now) => ({ labels: { ...withoutLost(now, pod), [own]: entry } }))
      return yield* computes.started(starting, pod, { endpoint_id, branch_id, generation })
    })
    return yield* Effect.tapError(run, () => Effect.ignore(takenBack(starting, endpoint_id)))
  })

  /**
   * Lets clusters hibernate whose endpoints have all lost their computes, as when a node fails: the operator starts another
   * pod, which no client reaches. The next start of an endpoint wakes the cluster again.
   */
  const sweep = Effect.gen(function* () {
    for (const { cluster, pod } of yield* computes.inUse) {
      if (pod === undefined || isNeeded(cluster, pod)) continue
      yield* change(cluster, (now) =>
        now.metadata.resourceVersion !== cluster.metadata.resourceVersion
          ? undefined
          : { labels: { ...withoutLost(now, pod), [label.running]: null }, annotations: asleep }
      )
    }
  }).pipe(
    Effect.withSpan("Endpoints.sweep"),
    Effect.catch((error) => Effect.logWarning("Computes that no endpoint uses could not be stopped.", error))
  )

  return { start, stop, sweep }
}
