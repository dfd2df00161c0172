/** Decisions on what the API server says about clusters, pods and snapshots. Pure. */
import { annotation, clusterLabel, type EndpointEntry, endpointOf, label, readEntry } from "./names.ts"
import type { ClusterObject, PodObject, SnapshotObject } from "./resources.ts"

/** The highest fence that a cluster has seen. */
export const fenceOf = ({ metadata }: ClusterObject): number => Number(metadata.annotations?.[annotation.fence] ?? 0)

export const dataOf = ({ metadata }: ClusterObject): number => Number(metadata.labels?.[label.data] ?? 0)

export const isReady = ({ metadata }: ClusterObject): boolean => metadata.labels?.[label.ready] === "true"

export const isHibernating = ({ metadata }: ClusterObject): boolean =>
  metadata.annotations?.[annotation.hibernation] === "on"

const isReplaced = ({ metadata }: ClusterObject) => metadata.labels?.[label.replaced] === "true"

/**
 * The cluster with the data of a branch: the oldest that is complete and was not replaced.
 *
 * Pitfall: taking the newest. A reset that was overtaken may have completed one whose data nobody asks for any more.
 */
export const currentOf = (ofBranch: ReadonlyArray<ClusterObject>): ClusterObject | undefined =>
  ofBranch
    .filter((it) => isReady(it) && !isReplaced(it) && it.metadata.deletionTimestamp === undefined)
    .toSorted((one, other) => dataOf(one) - dataOf(other))[0]

/** The endpoints of a cluster. */
export const entriesOf = ({ metadata }: ClusterObject): ReadonlyArray<readonly [endpoint: string, EndpointEntry]> =>
  Object.entries(metadata.labels ?? {}).flatMap(([name, value]) => {
    const endpoint = endpointOf(name)
    return endpoint === undefined ? [] : [[endpoint, readEntry(value)] as const]
  })

/** The claim with the data. CloudNativePG gives claim, instance and pod the same name. */
export const claimOf = ({ metadata, status }: ClusterObject): string =>
  status?.currentPrimary ?? status?.healthyPVC?.[0] ?? status?.danglingPVC?.[0] ?? `${metadata.name}-1`

const healthy = "Cluster in healthy state"
/** Phases in which CloudNativePG does not go on by itself. */
const hopeless = ["unrecoverable", "Invalid cluster definition", "incomplete or invalid image catalog"]
const crowded = ["Not enough disk space"]

export type Made =
  | { readonly is: "made" }
  /** CloudNativePG has stopped making the data, for good or for now. */
  | { readonly is: "stuck"; readonly forever: boolean; readonly phase: string }

/** Whether the first data of a cluster are complete; `undefined`: not yet. */
export const madeOf = ({ status }: ClusterObject): Made | undefined => {
  const initialized = status?.conditions?.find(({ type }) => type === "Initialized")
  if (initialized?.status === "True" || status?.phase === healthy) return { is: "made" }
  const phase = [status?.phase, status?.phaseReason].filter((it) => it !== undefined && it !== "").join(": ")
  if (hopeless.some((text) => phase.includes(text))) return { is: "stuck", forever: true, phase }
  return crowded.some((text) => phase.includes(text)) ? { is: "stuck", forever: false, phase } : undefined
}

export type Snapped = { readonly is: "ready" } | { readonly is: "failed"; readonly why: string }

export const snappedOf = ({ status }: SnapshotObject): Snapped | undefined => {
  if (status?.readyToUse === true) return { is: "ready" }
  return status?.error === undefined ? undefined : { is: "failed", why: status.error.message ?? "unknown" }
}

/** Pods of jobs have the label of the cluster as well. */
const isInstance = ({ metadata }: PodObject) => metadata.labels?.["cnpg.io/podRole"] === "instance"

/** The pods with the server of a cluster, also those that end. */
export const instancesOf = (found: ReadonlyArray<PodObject>): ReadonlyArray<PodObject> => found.filter(isInstance)

export interface LivePod {
  readonly uid: string
  readonly ip: string
  readonly cluster: string
  readonly namespace: string
}

/** A pod whose server can be connected to, or soon. */
export const liveOf = ({ metadata, status }: PodObject): LivePod | undefined => {
  const { labels = {}, namespace, uid } = metadata
  const cluster = labels[clusterLabel]
  const ip = status?.podIP ?? ""
  if (cluster === undefined || namespace === undefined || ip === "") return undefined
  const ends = metadata.deletionTimestamp !== undefined || status?.phase === "Succeeded" || status?.phase === "Failed"
  return ends ? undefined : { uid, ip, cluster, namespace }
}

/** Why no node takes a pod; `undefined`: one has. */
export const unschedulable = ({ status }: PodObject): string | undefined => {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled")
  return scheduled?.status === "False" && scheduled.reason === "Unschedulable" ? (scheduled.message ?? "") : undefined
}
