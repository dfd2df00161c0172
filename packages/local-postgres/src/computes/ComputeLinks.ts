/** The links of computes among the links to sockets: `<endpoint id>.<generation>`. */
import type { EndpointId } from "@narthex/core"
import { Effect } from "effect"
import type { Cluster } from "../cluster/Cluster.ts"
import type { SocketLinks } from "../cluster/SocketLinks.ts"

export interface ComputeLink {
  readonly name: string
  /** The directory of the cluster that it leads to. */
  readonly cluster: string
  readonly endpoint: string
  readonly generation: number
}

const nameForm = /^([A-Za-z0-9][A-Za-z0-9_-]*)\.(\d+)$/

export const computeLinks = (links: SocketLinks) => {
  /** The embedded store may have a link in the same directory. */
  const all = Effect.map(links.list, (found) =>
    found.flatMap(({ cluster, name }): ReadonlyArray<ComputeLink> => {
      const [, endpoint, generation] = nameForm.exec(name) ?? []
      return endpoint === undefined ? [] : [{ name, cluster, endpoint, generation: Number(generation) }]
    })
  )
  return {
    all,
    to: (cluster: Cluster) => Effect.map(all, (them) => them.filter((it) => it.cluster === cluster.directory)),
    of: (endpoint: EndpointId) => Effect.map(all, (them) => them.filter((it) => it.endpoint === endpoint)),
    put: links.put,
    pathOf: links.pathOf,
    remove: (unwanted: ReadonlyArray<{ readonly name: string }>) =>
      Effect.forEach(unwanted, ({ name }) => links.remove(name), { discard: true })
  }
}

export type ComputeLinks = ReturnType<typeof computeLinks>
