/** The kinds of objects that the double of the API server serves. */
export interface Resource {
  /** Empty: the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  /** Whether `status` is changed through a path of its own, and only there. */
  readonly status: boolean
}

const core = (plural: string, kind: string, { namespaced = true, status = false } = {}): Resource => ({
  ...{ group: "", version: "v1" },
  ...{ plural, kind, namespaced, status }
})

const grouped =
  (group: string) =>
  (plural: string, kind: string, options: Parameters<typeof core>[2] = {}) => ({
    ...core(plural, kind, options),
    group
  })

const clusterWide = { namespaced: false }
const cnpg = grouped("postgresql.cnpg.io")
const snapshot = grouped("snapshot.storage.k8s.io")

export const namespaces = core("namespaces", "Namespace", { ...clusterWide, status: true })
export const pods = core("pods", "Pod", { status: true })
export const claims = core("persistentvolumeclaims", "PersistentVolumeClaim", { status: true })
export const secrets = core("secrets", "Secret")
export const services = core("services", "Service", { status: true })
export const clusters = cnpg("clusters", "Cluster", { status: true })
export const snapshots = snapshot("volumesnapshots", "VolumeSnapshot", { status: true })
export const snapshotClasses = snapshot("volumesnapshotclasses", "VolumeSnapshotClass", clusterWide)
export const storageClasses = grouped("storage.k8s.io")("storageclasses", "StorageClass", clusterWide)
export const definitions = grouped("apiextensions.k8s.io")("customresourcedefinitions", "CustomResourceDefinition", {
  ...clusterWide,
  status: true
})
export const networkPolicies = grouped("networking.k8s.io")("networkpolicies", "NetworkPolicy")
export const accessReviews = grouped("authorization.k8s.io")(
  "selfsubjectaccessreviews",
  "SelfSubjectAccessReview",
  clusterWide
)

export const roleBindings = grouped("rbac.authorization.k8s.io")("rolebindings", "RoleBinding")

const others = [
  core("serviceaccounts", "ServiceAccount"),
  core("configmaps", "ConfigMap"),
  core("resourcequotas", "ResourceQuota", { status: true }),
  cnpg("imagecatalogs", "ImageCatalog"),
  cnpg("clusterimagecatalogs", "ClusterImageCatalog", clusterWide),
  cnpg("databases", "Database", { status: true }),
  cnpg("databaseroles", "DatabaseRole", { status: true }),
  cnpg("backups", "Backup", { status: true }),
  grouped("rbac.authorization.k8s.io")("roles", "Role")
]

export const allResources: ReadonlyArray<Resource> = [
  ...[namespaces, pods, claims, secrets, services, clusters, snapshots, snapshotClasses, storageClasses],
  ...[definitions, networkPolicies, accessReviews, roleBindings, ...others]
]

/** As a user writes it: `clusters.postgresql.cnpg.io`, `pods`. */
export const nameOf = ({ group, plural }: Resource): string => (group === "" ? plural : `${plural}.${group}`)

export const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`)
