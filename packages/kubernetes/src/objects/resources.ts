/** The kinds of objects that the driver uses, with the members that it reads. */
import { Schema } from "effect"
import { type Kept, Metadata, type Resource } from "../api/Resource.ts"

const optional = Schema.optionalKey
const text = optional(Schema.String)
const texts = optional(Schema.Array(Schema.String))
/** Quantities are texts or numbers. */
const entries = optional(Schema.Record(Schema.String, Schema.Unknown))

const Condition = Schema.Struct({ type: Schema.String, status: Schema.String, reason: text, message: text })
const conditions = optional(Schema.Array(Condition))

const catalogReference = Schema.Struct({
  apiGroup: Schema.String,
  kind: Schema.String,
  name: Schema.String,
  major: Schema.Int
})

/** A cluster of CloudNativePG: the data and the server of a branch. */
export const ClusterObject = Schema.Struct({
  metadata: Metadata,
  spec: Schema.Struct({
    imageName: text,
    imageCatalogRef: optional(catalogReference),
    storage: optional(Schema.Struct({ size: text })),
    resources: optional(Schema.Struct({ requests: entries, limits: entries })),
    postgresql: optional(Schema.Struct({ parameters: entries }))
  }),
  status: optional(
    Schema.Struct({
      phase: text,
      phaseReason: text,
      currentPrimary: text,
      healthyPVC: texts,
      danglingPVC: texts,
      conditions
    })
  )
})
export type ClusterObject = typeof ClusterObject.Type

export const PodObject = Schema.Struct({
  metadata: Metadata,
  status: optional(Schema.Struct({ phase: text, podIP: text, conditions }))
})
export type PodObject = typeof PodObject.Type

export const SnapshotObject = Schema.Struct({
  metadata: Metadata,
  status: optional(
    Schema.Struct({
      readyToUse: optional(Schema.Boolean),
      error: optional(Schema.Struct({ message: text }))
    })
  )
})
export type SnapshotObject = typeof SnapshotObject.Type

const SecretObject = Schema.Struct({
  metadata: Metadata,
  data: optional(Schema.Record(Schema.String, Schema.String))
})

const StorageClassObject = Schema.Struct({
  metadata: Metadata,
  provisioner: Schema.String,
  reclaimPolicy: text
})

const SnapshotClassObject = Schema.Struct({ metadata: Metadata, driver: Schema.String })

const AnyObject = Schema.Struct({ metadata: Metadata })

const resource = <A extends Kept>(root: string, plural: string, schema: Schema.Codec<A, unknown>): Resource<A> => ({
  root,
  plural,
  schema
})

export const cnpgRoot = "/apis/postgresql.cnpg.io/v1"
export const snapshotRoot = "/apis/snapshot.storage.k8s.io/v1"

export const clusters = resource(cnpgRoot, "clusters", ClusterObject)
export const pods = resource("/api/v1", "pods", PodObject)
export const secrets = resource("/api/v1", "secrets", SecretObject)
export const namespaces = resource("/api/v1", "namespaces", AnyObject)
export const snapshots = resource(snapshotRoot, "volumesnapshots", SnapshotObject)
export const snapshotClasses = resource(snapshotRoot, "volumesnapshotclasses", SnapshotClassObject)
export const storageClasses = resource("/apis/storage.k8s.io/v1", "storageclasses", StorageClassObject)
export const networkPolicies = resource("/apis/networking.k8s.io/v1", "networkpolicies", AnyObject)
export const roleBindings = resource("/apis/rbac.authorization.k8s.io/v1", "rolebindings", AnyObject)
