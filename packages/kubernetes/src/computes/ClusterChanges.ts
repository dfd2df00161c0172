/**
 * Changes of a branch's cluster, each fenced: the cluster is read, the fence of the call is compared with the one that the
 * cluster has seen, and both the change and the fence are written in one patch, which the API server accepts only if nothing
 * else has changed the cluster since it was read.
 */
import { ComputeFence } from "@narthex/core"
import { Effect, Option, Schedule } from "effect"
import type { ApiClient } from "../api/ApiClient.ts"
import { isConflict } from "../api/ApiFailure.ts"
import { fenceOf } from "../objects/clusterState.ts"
import { annotation } from "../objects/names.ts"
import { type ClusterObject, clusters } from "../objects/resources.ts"
import { again, overtaken } from "./failures.ts"

type Texts = Readonly<Record<string, string | null>>

/** Members that are merged into a cluster; `null` removes one. */
export interface ClusterPatch {
  readonly labels?: Texts
  readonly annotations?: Texts
  readonly spec?: object
}

const gone = again("The data of the branch were replaced or removed at the same time.")

/** Fails when a call with a higher fence has changed the cluster. */
export const compared = (cluster: ClusterObject) =>
  Effect.filterOrFail(
    ComputeFence,
    (fence) => fence === null || fence >= fenceOf(cluster),
    () => overtaken
  )

const retried = { while: isConflict, times: 50, schedule: Schedule.spaced("20 millis") }

export const clusterChanges = (client: Pick<ApiClient, "get" | "patch">) => {
  /** The cluster as it is now, if it is the same one. */
  const read = Effect.fnUntraced(function* ({ metadata }: ClusterObject) {
    const { name, namespace = null, uid } = metadata
    const found = Option.getOrUndefined(yield* client.get(clusters, namespace, name))
    return found?.metadata.uid === uid ? found : yield* gone
  })

  /**
   * Changes a cluster as `to` says of its state of now. Without a patch only the fence is recorded. Returns the cluster as
   * it is afterwards.
   */
  const change = (cluster: ClusterObject, to: (now: ClusterObject) => ClusterPatch | undefined = () => undefined) =>
    Effect.gen(function* () {
      const now = yield* read(cluster)
      const fence = yield* compared(now)
      const patch = to(now)
      const raises = fence !== null && fence > fenceOf(now)
      if (patch === undefined && !raises) return now
      const { annotations, labels, spec } = patch ?? {}
      const { name, namespace = null, resourceVersion, uid } = now.metadata
      return yield* client.patch(clusters, namespace, name, {
        metadata: {
          uid,
          resourceVersion,
          ...(labels === undefined ? {} : { labels }),
          annotations: { ...annotations, ...(raises ? { [annotation.fence]: `${fence}` } : {}) }
        },
        ...(spec === undefined ? {} : { spec })
      })
    }).pipe(Effect.retry(retried))

  /** Fails when a later call has taken the branch over. */
  const confirm = (cluster: ClusterObject) => Effect.asVoid(Effect.flatMap(read(cluster), compared))

  return { change, confirm }
}

export type ClusterChanges = ReturnType<typeof clusterChanges>
