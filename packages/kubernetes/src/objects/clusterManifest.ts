/**
 * Manifests of clusters of CloudNativePG. Pure.
 *
 * `runtime` are the members that every start writes again, so that a change of them here reaches all branches. Image, storage
 * and bootstrap belong to the data, and stay as they are.
 */
import type { EndpointSize } from "@narthex/core"
import { type Chosen, imageTag } from "./KubernetesOptions.ts"
import { annotation, clusterName, label } from "./names.ts"
import { resourcesOf } from "./podResources.ts"
import type { ClusterObject } from "./resources.ts"

/** The database and role that CloudNativePG makes for an application. Nobody logs in as the role. */
const unused = "narthex"

/** The first match decides; CloudNativePG's own rules, for its instances, stand before these. */
const access = [
  `host all ${unused} all reject`,
  "hostssl all postgres all scram-sha-256",
  "hostssl postgres all all scram-sha-256",
  "host all all all reject"
]

/** As for local computes, but for those that CloudNativePG sets itself. */
const parametersOf = (major: number) => ({
  password_encryption: "scram-sha-256",
  max_prepared_transactions: "0",
  max_logical_replication_workers: "0",
  jit: "off",
  log_timezone: "UTC",
  timezone: "UTC",
  datestyle: "iso, mdy",
  lc_messages: "C",
  default_text_search_config: "pg_catalog.english",
  shared_buffers: "32MB",
  max_wal_size: "256MB",
  min_wal_size: "80MB",
  wal_keep_size: "32MB",
  max_worker_processes: "4",
  max_parallel_workers: "2",
  // No role can change this level, and `raise log` is below it.
  log_min_messages: "fatal",
  client_connection_check_interval: "1s",
  max_connections: "110",
  superuser_reserved_connections: "10",
  ...(major >= 16 ? { reserved_connections: "60" } : {}),
  authentication_timeout: "10s",
  temp_file_limit: "1GB",
  ...(major >= 17 ? { max_notify_queue_pages: "16384" } : {}),
  ...(major >= 18 ? { io_method: "sync" } : {})
})

/** The major version of an image, by its tag. */
const majorOfImage = (image: string): number => Number(imageTag.exec(image)?.[1] ?? 0)

type Image = Pick<ClusterObject["spec"], "imageCatalogRef" | "imageName">

const majorOf = ({ imageCatalogRef, imageName = "" }: Image) => imageCatalogRef?.major ?? majorOfImage(imageName)

const imageOf = ({ catalog, image }: Chosen): Image =>
  catalog === undefined ? { imageName: image } : { imageCatalogRef: { apiGroup: "postgresql.cnpg.io", ...catalog } }

/** The members of `spec` that a start writes. A second is the shortest period of a probe; the defaults cost ten each. */
export const runtime = (options: Chosen, image: Image, size: EndpointSize | null) => ({
  instances: 1,
  enableSuperuserAccess: true,
  // A node with single instances could never be drained.
  enablePDB: false,
  smartShutdownTimeout: 1,
  stopDelay: 30,
  probes: {
    startup: { periodSeconds: 1, failureThreshold: 3600 },
    readiness: { periodSeconds: 1, failureThreshold: 30 }
  },
  managed: { services: { disabledDefaultServices: ["r", "ro"] } },
  monitoring: { disableDefaultQueries: true },
  resources: resourcesOf(options, size),
  postgresql: { parameters: parametersOf(majorOf(image)), pg_hba: access }
})

type Entries = Readonly<Record<string, unknown>>

/** Entries as they are merged over former ones: `null` removes one that is there no more. */
const over = (former: Entries = {}, next: Entries = {}): Entries => ({
  ...Object.fromEntries(Object.keys(former).map((name) => [name, null])),
  ...next
})

/** `runtime`, to be merged into the `spec` of a cluster. */
export const runtimePatch = (
  options: Chosen,
  { postgresql, resources, ...image }: ClusterObject["spec"],
  size: EndpointSize | null
) => {
  const next = runtime(options, image, size)
  return {
    ...next,
    resources: {
      requests: over(resources?.requests, next.resources.requests),
      limits: over(resources?.limits, next.resources.limits)
    },
    postgresql: { ...next.postgresql, parameters: over(postgresql?.parameters, next.postgresql.parameters) }
  }
}

/** Where the data of a new cluster come from. */
export type Origin =
  | { readonly is: "empty" }
  /** A snapshot in the namespace of the parent. */
  | { readonly is: "copy"; readonly snapshot: string; readonly parent: ClusterObject }

/** Code point order and Unicode character classes; from Postgres 17 on without the system's locales. */
const localeOf = (major: number) =>
  major >= 17
    ? { locale: "C", localeProvider: "builtin", builtinLocale: "C.UTF-8" }
    : { localeCType: "C.UTF-8", localeCollate: "C.UTF-8" }

const bootstrapOf = (origin: Origin, major: number) =>
  origin.is === "empty"
    ? {
        initdb: {
          database: unused,
          owner: unused,
          encoding: "UTF8",
          ...localeOf(major),
          dataChecksums: true
        }
      }
    : {
        recovery: {
          volumeSnapshots: {
            storage: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: origin.snapshot }
          }
        }
      }

export const ownLabels = ({ installation }: Pick<Chosen, "installation">, branch: string) => ({
  [label.manager]: "narthex",
  [label.installation]: installation,
  [label.branch]: branch
})

export interface NewCluster {
  readonly namespace: string
  readonly branch: string
  readonly data: number
  readonly fence: number
  readonly origin: Origin
  readonly size: EndpointSize | null
}

/** A cluster that is made, and hibernates as soon as it can. */
export const clusterManifest = (options: Chosen, { branch, data, fence, namespace, origin, size }: NewCluster) => {
  const { imageCatalogRef, imageName, storage }: ClusterObject["spec"] =
    origin.is === "copy" ? origin.parent.spec : imageOf(options)
  const image = { ...(imageName === undefined ? {} : { imageName }), ...(imageCatalogRef ? { imageCatalogRef } : {}) }
  return {
    apiVersion: "postgresql.cnpg.io/v1",
    kind: "Cluster",
    metadata: {
      name: clusterName(branch, data),
      namespace,
      labels: { ...ownLabels(options, branch), [label.data]: `${data}` },
      annotations: { [annotation.fence]: `${fence}`, [annotation.hibernation]: "on" }
    },
    spec: {
      ...image,
      ...runtime(options, image, size),
      inheritedMetadata: { labels: ownLabels(options, branch) },
      storage: { size: storage?.size ?? options.storage, storageClass: options.storage_class },
      bootstrap: bootstrapOf(origin, majorOf(image))
    }
  }
}

/** A snapshot of a claim. */
export const snapshotManifest = (
  options: Chosen,
  of: { readonly name: string; readonly namespace: string; readonly branch: string; readonly claim: string }
) => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { name: of.name, namespace: of.namespace, labels: ownLabels(options, of.branch) },
  spec: {
    volumeSnapshotClassName: options.snapshot_class,
    source: { persistentVolumeClaimName: of.claim }
  }
})
