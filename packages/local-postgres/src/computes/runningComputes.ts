/** What runs on this machine, by the links of computes: one whose server has ended leads nowhere. */
import { basename } from "node:path"
import { BranchId, type Compute, EndpointId } from "@narthex/core"
import { Effect, Option } from "effect"
import { type Cluster, clusterAt } from "../cluster/Cluster.ts"
import { findPostmaster } from "../cluster/PostgresProcess.ts"
import type { RunningServer } from "../machine/busyServers.ts"
import type { ComputeLinks } from "./ComputeLinks.ts"

export const branchOf = (cluster: Cluster) => BranchId.make(basename(cluster.directory))

/** Every compute that runs. */
export const runningComputes = Effect.fnUntraced(function* (links: ComputeLinks) {
  const computes: Array<Compute> = []
  for (const link of yield* links.all) {
    const cluster = clusterAt(link.cluster, "compute")
    if (Option.isNone(yield* findPostmaster(cluster))) continue
    const endpoint_id = EndpointId.make(link.endpoint)
    const { generation, name } = link
    computes.push({ endpoint_id, branch_id: branchOf(cluster), generation, address: links.pathOf(name) })
  }
  return computes
})

const serverOf = (cluster: Cluster) =>
  Effect.map(findPostmaster(cluster), (found) =>
    Option.toArray(found).map((postmaster): RunningServer => ({ postmaster, cluster: cluster.name }))
  )

/** The servers that a link leads to; none when they cannot be listed. */
export const runningServers = (links: ComputeLinks) =>
  links.all.pipe(
    Effect.map((all) => [...new Set(all.map(({ cluster }) => cluster))]),
    Effect.flatMap((linked) => Effect.forEach(linked, (it) => serverOf(clusterAt(it, "compute")), { concurrency: 8 })),
    Effect.map((all) => all.flat()),
    Effect.orElseSucceed((): ReadonlyArray<RunningServer> => [])
  )
