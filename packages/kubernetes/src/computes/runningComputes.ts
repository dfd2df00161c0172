/** The computes that run, as the API server says now. */
import { BranchId, type Compute, EndpointId } from "@narthex/core"
import { Clock, Effect } from "effect"
import type { ApiClient } from "../api/ApiClient.ts"
import { entriesOf, type LivePod, liveOf } from "../objects/clusterState.ts"
import { label, serverName } from "../objects/names.ts"
import type { ClusterObject } from "../objects/resources.ts"
import type { BranchObjects } from "./BranchObjects.ts"
import type { BranchRoles } from "./branchRoles.ts"
import { authorityOf, port } from "./superuserOn.ts"

/** How long the authority of a cluster is kept. CloudNativePG renews it days before its end, with the same key. */
const authorityFor = 60 * 60 * 1000

interface InUse {
  readonly cluster: ClusterObject
  /** `undefined`: none that can be connected to. */
  readonly pod: LivePod | undefined
}

export const runningComputes = (client: ApiClient, objects: BranchObjects, roles: BranchRoles) => {
  /** The authorities of clusters, by uid. */
  const authorities = new Map<string, { readonly ca: string; readonly until: number }>()

  const authority = Effect.fnUntraced(function* ({ metadata }: ClusterObject, pod: LivePod) {
    const now = yield* Clock.currentTimeMillis
    const known = authorities.get(metadata.uid)
    if (known !== undefined && known.until > now) return known.ca
    const ca = yield* authorityOf(client, pod)
    authorities.set(metadata.uid, { ca, until: now + authorityFor })
    return ca
  })

  const computeOf = Effect.fnUntraced(function* (
    cluster: ClusterObject,
    pod: LivePod,
    which: Pick<Compute, "branch_id" | "endpoint_id" | "generation">
  ) {
    const tls = { ca: yield* authority(cluster, pod), server_name: serverName(pod.cluster, pod.namespace) }
    const address = `${pod.ip.includes(":") ? `[${pod.ip}]` : pod.ip}:${port}`
    const compute: Compute = { ...which, address, reach: { tls, own_roles: false } }
    return compute
  })

  /** A compute that has just started, with the authority that its cluster has now. */
  const started = (...[cluster, pod, which]: Parameters<typeof computeOf>) =>
    Effect.suspend(() => {
      authorities.delete(cluster.metadata.uid)
      return computeOf(cluster, pod, which)
    })

  /** Every cluster with endpoints, and its pod. */
  const inUse = Effect.gen(function* () {
    const clusters = yield* objects.inUse
    const pods = (yield* objects.instances).map(liveOf)
    for (const uid of authorities.keys())
      if (!clusters.some(({ metadata }) => metadata.uid === uid)) authorities.delete(uid)
    return clusters.map((cluster): InUse => {
      const { name, namespace } = cluster.metadata
      return { cluster, pod: pods.find((it) => it?.cluster === name && it.namespace === namespace) }
    })
  })

  /** Does something for each cluster that has a pod, for some at a time. */
  const onEach = <A, E>(work: (cluster: ClusterObject, pod: LivePod, branch: BranchId) => Effect.Effect<A, E>) =>
    Effect.flatMap(inUse, (found) =>
      Effect.forEach(
        found.flatMap(({ cluster, pod }) => {
          const branch = cluster.metadata.labels?.[label.branch] ?? ""
          return pod === undefined || branch === "" ? [] : [work(cluster, pod, BranchId.make(branch))]
        }),
        (effect) => effect,
        { concurrency: 8 }
      )
    )

  const running = onEach((cluster, pod, branch_id) =>
    Effect.forEach(
      entriesOf(cluster).flatMap(([endpoint, entry]) =>
        entry.is === "running" && entry.pod === pod.uid ? [{ endpoint, generation: entry.generation }] : []
      ),
      ({ endpoint, generation }) =>
        computeOf(cluster, pod, { endpoint_id: EndpointId.make(endpoint), branch_id, generation })
    )
  ).pipe(
    Effect.map((found) => found.flat()),
    Effect.withSpan("RunningComputes.running")
  )

  const bytesOf = (cluster: ClusterObject, pod: LivePod, branch_id: BranchId) =>
    roles.bytesOn(cluster, pod).pipe(
      Effect.map((bytes) => [{ branch_id, bytes }]),
      Effect.catch((error) => Effect.as(Effect.logDebug(`${branch_id} was not measured.`, error), []))
    )

  /** The sizes of the branches that run. For the others, and those that cannot be measured, their last size applies. */
  const diskUsage = Effect.map(onEach(bytesOf), (found) => found.flat())

  return { diskUsage, inUse, running, started }
}

export type RunningComputes = ReturnType<typeof runningComputes>
