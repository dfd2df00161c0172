/** The choices of an operator about computes on Kubernetes (`NARTHEX_KUBERNETES`). */
import { Schema } from "effect"

const Quantities = Schema.Record(Schema.String, Schema.String)

const Name = Schema.String.check(Schema.isPattern(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/))
const Cidr = Schema.String.check(Schema.isPattern(/^[0-9a-fA-F.:]+\/\d{1,3}$/))

/** The tag of an image, which begins with the major version, and its digest. */
export const imageTag = /(?<!@sha256):(\d{2})[^/:@]*(?:@sha256:[0-9a-f]{64})?$/

export const KubernetesOptions = Schema.Struct({
  /** The storage class of all data. Its volumes have to be copyable by snapshots of `snapshot_class`. */
  storage_class: Name,
  snapshot_class: Name,
  /** The namespace of the computes, or with `per_organization` the first part of the names. */
  namespace: Schema.optionalKey(Name.check(Schema.isMaxLength(26))),
  /** Whether each organization has a namespace of its own, which the driver makes. */
  per_organization: Schema.optionalKey(Schema.Boolean),
  /** Tells installations apart that share a Kubernetes cluster. */
  installation: Schema.optionalKey(Name),
  /** The size of the volume of a new branch. A copy has the size of its parent. */
  storage: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[1-9]\d*(Mi|Gi|Ti)$/))),
  /** The image of new branches. Its tag begins with the major version of Postgres. */
  image: Schema.optionalKey(Schema.String.check(Schema.isPattern(imageTag))),
  /** A catalog of images in place of `image`. */
  catalog: Schema.optionalKey(
    Schema.Struct({
      kind: Schema.Literals(["ImageCatalog", "ClusterImageCatalog"]),
      name: Name,
      major: Schema.Int.check(Schema.isBetween({ minimum: 15, maximum: 99 }))
    })
  ),
  resources: Schema.optionalKey(
    Schema.Struct({ requests: Schema.optionalKey(Quantities), limits: Schema.optionalKey(Quantities) })
  ),
  /** Namespaces of the runners and proxies, and of the operator of CloudNativePG, which may connect. */
  platform_namespace: Schema.optionalKey(Name),
  operator_namespace: Schema.optionalKey(Name),
  /** Networks outside of the cluster with runners and proxies. */
  platform_networks: Schema.optionalKey(Schema.Array(Cidr)),
  /** Networks of the API server, which each instance has to reach. */
  api_networks: Schema.optionalKey(Schema.Array(Cidr))
})
export type KubernetesOptions = typeof KubernetesOptions.Type

export const defaultKubernetesOptions = {
  namespace: "narthex-computes",
  per_organization: false,
  installation: "narthex",
  storage: "10Gi",
  image: "ghcr.io/cloudnative-pg/postgresql:17",
  resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { cpu: "2", memory: "1Gi" } },
  operator_namespace: "cnpg-system",
  platform_networks: [] as ReadonlyArray<string>,
  api_networks: ["0.0.0.0/0", "::/0"] as ReadonlyArray<string>
} as const

/** The options with every default. */
export interface Chosen
  extends Omit<typeof defaultKubernetesOptions, keyof KubernetesOptions>,
    Required<Omit<KubernetesOptions, "catalog" | "platform_namespace">>,
    Pick<KubernetesOptions, "catalog" | "platform_namespace"> {}

export const chosen = (options: KubernetesOptions): Chosen => ({ ...defaultKubernetesOptions, ...options })
