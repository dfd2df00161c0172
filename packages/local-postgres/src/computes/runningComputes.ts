/** The computes that run on this machine, by their links. The link of a server that has ended leads nowhere. */
import { basename } from "node:path"
import { BranchId, type Compute, EndpointId } from "@narthex/core"
import { Effect, Option } from "effect"
import { type Cluster, clusterAt } from "../cluster/Cluster.ts"
import { findPostmaster } from "../cluster/PostgresProcess.ts"
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
