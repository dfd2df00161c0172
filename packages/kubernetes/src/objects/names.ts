/**
 * Names, labels and annotations of the driver's objects.
 *
 * All state of the driver is in the labels and annotations of clusters, so every runner sees the same, also after a crash.
 *
 * | Label of a cluster | Value |
 * |---|---|
 * | `installation` | of which installation the object is; all others are left alone |
 * | `branch` | the branch |
 * | `data` | a number that grows with every reset of the branch, part of the name |
 * | `ready` | `true` once the data are complete |
 * | `replaced` | `true` once later data have taken their place |
 * | `running` | `true` while an endpoint is started or stopped |
 * | `endpoint.…/<endpoint>` | an `EndpointEntry` |
 */

const domain = "narthex.dev"

export const label = {
  manager: "app.kubernetes.io/managed-by",
  installation: `${domain}/installation`,
  organization: `${domain}/organization`,
  branch: `${domain}/branch`,
  data: `${domain}/data`,
  ready: `${domain}/ready`,
  replaced: `${domain}/replaced`,
  running: `${domain}/running`
} as const

export const annotation = {
  fence: `${domain}/fence`,
  hibernation: "cnpg.io/hibernation"
} as const

/** CloudNativePG's label of the pods, claims and jobs of a cluster. */
export const clusterLabel = "cnpg.io/cluster"

const endpointPrefix = `endpoint.${domain}/`

export const endpointLabel = (endpoint: string) => `${endpointPrefix}${endpoint}`

/** The endpoint that a label is about. */
export const endpointOf = (name: string): string | undefined =>
  name.startsWith(endpointPrefix) ? name.slice(endpointPrefix.length) : undefined

/**
 * Where an endpoint is in its life: starting, running on a pod in a generation, or stopping. The uid of the pod is part of
 * the state because a pod that takes its place has another address.
 */
export type EndpointEntry =
  | { readonly is: "starting"; readonly generation: number }
  | { readonly is: "running"; readonly generation: number; readonly pod: string }
  | { readonly is: "stopping" }

export const entryText = (entry: EndpointEntry): string => {
  switch (entry.is) {
    case "starting":
      return `${entry.generation}`
    case "running":
      return `${entry.generation}.${entry.pod}`
    case "stopping":
      return "stopping"
  }
}

/** A text that this version cannot have written counts as `stopping`: such an endpoint has no address. */
export const readEntry = (text: string): EndpointEntry => {
  const [, digits, pod] = /^(\d+)(?:\.(.+))?$/.exec(text) ?? []
  if (digits === undefined) return { is: "stopping" }
  const generation = Number(digits)
  return pod === undefined ? { is: "starting", generation } : { is: "running", generation, pod }
}

/** At most 50 characters, as CloudNativePG demands, for every id that `isNameable`. */
export const clusterName = (branch: string, data: number) => `${branch}-${data}`

/** Whether an id of a branch or endpoint can be part of a name and the value of a label. */
export const isNameable = (id: string) => /^[a-z]([a-z0-9-]{0,42}[a-z0-9])?$/.test(id)

/** The name in the certificate of the server of a cluster. */
export const serverName = (name: string, namespace: string) => `${name}-rw.${namespace}.svc`
