/** The driver of the storage: claims get volumes, snapshots copies of them. */
import { type Fields, fieldsAt, listAt, textAt, withAt } from "../api/json.ts"
import { nameIn, namespaceIn, type ObjectStore, uidIn } from "../api/ObjectStore.ts"
import { claims, snapshotClasses, snapshots } from "../api/resources.ts"
import { Controller, itself } from "./Controller.ts"
import type { Volumes } from "./Volumes.ts"

export const defaultClass = "snapshot.storage.kubernetes.io/is-default-class"

export class Snapshotter {
  readonly #store: ObjectStore
  readonly #volumes: Volumes
  readonly #stop: () => void
  readonly controller: Controller
  /** Called before a snapshot is taken. */
  before: () => Promise<void> = async () => undefined
  /** The error of the storage, if a test wants one. */
  failure: string | undefined

  constructor(store: ObjectStore, volumes: Volumes) {
    this.#store = store
    this.#volumes = volumes
    this.controller = new Controller(store, snapshots, itself(snapshots), (snapshot) => this.#take(snapshot))
    // Volumes end with what they belong to: the storage class says `Delete`.
    this.#stop = store.onChange(({ object, resource, type }) => {
      if (type === "DELETED" && (resource === claims || resource === snapshots)) void volumes.remove(uidIn(object))
    })
  }

  async #take(snapshot: Fields): Promise<void> {
    if (fieldsAt(snapshot, "status")["readyToUse"] !== undefined) return
    await this.before()
    const failed = (message: string) =>
      this.#store.update(snapshots, snapshot, (it) =>
        withAt(it, ["status"], { readyToUse: false, error: { message, time: new Date().toISOString() } })
      )
    const name = textAt(snapshot, "spec", "source", "persistentVolumeClaimName")
    const claim = this.#store.find(claims, namespaceIn(snapshot), name)
    if (claim === undefined) return failed(`Failed to create snapshot: the PVC ${name} is not found`)
    const asked = textAt(snapshot, "spec", "volumeSnapshotClassName")
    const classes = this.#store.list(snapshotClasses)
    const found = classes.find((it) =>
      asked === "" ? textAt(it, "metadata", "annotations", defaultClass) === "true" : nameIn(it) === asked
    )
    if (found === undefined) return failed(`Failed to set default snapshot class, or to find ${asked}`)
    if (this.failure !== undefined) return failed(this.failure)
    await this.#volumes.snapshot(uidIn(claim), uidIn(snapshot))
    const restoreSize = textAt(claim, "spec", "resources", "requests", "storage")
    this.#store.update(snapshots, snapshot, (it) =>
      withAt(it, ["status"], {
        boundVolumeSnapshotContentName: `snapcontent-${uidIn(snapshot)}`,
        creationTime: new Date().toISOString(),
        readyToUse: true,
        restoreSize
      })
    )
  }

  async close(): Promise<void> {
    this.#stop()
    await this.controller.close()
  }
}

/** The access modes of every claim here. */
export const accessModes = ["ReadWriteOnce"]

export const claimOf = (cluster: Fields, name: string, owner: Fields): Fields => ({
  metadata: {
    name,
    labels: { "cnpg.io/cluster": nameIn(cluster), "cnpg.io/instanceName": name, "cnpg.io/pvcRole": "PG_DATA" },
    finalizers: ["kubernetes.io/pvc-protection"],
    ownerReferences: [owner]
  },
  spec: {
    accessModes,
    storageClassName: textAt(cluster, "spec", "storage", "storageClass"),
    resources: { requests: { storage: textAt(cluster, "spec", "storage", "size") } }
  },
  status: { phase: "Bound" }
})

/** Whether a volume has a finalizer left; a claim in use has. */
export const isProtected = (claim: Fields): boolean => listAt(claim, "metadata", "finalizers").length > 0
