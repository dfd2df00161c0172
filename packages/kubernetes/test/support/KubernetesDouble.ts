/**
 * A double of a Kubernetes cluster with CloudNativePG: the API over HTTPS, an operator, storage with snapshots, and pods
 * that are servers of Postgres on loopback. Enough of each for a driver of computes, with what goes wrong in real ones.
 */

import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { ApiServer } from "./api/ApiServer.ts"
import { collectGarbage } from "./api/collectGarbage.ts"
import type { Faults } from "./api/Faults.ts"
import type { Fields } from "./api/json.ts"
import { isDeleting, ObjectStore } from "./api/ObjectStore.ts"
import {
  allResources,
  clusters,
  definitions,
  nameOf,
  namespaces,
  pods,
  snapshotClasses,
  snapshots,
  storageClasses
} from "./api/resources.ts"
import { type KeyPair, makeAuthority, signServer } from "./cluster/authority.ts"
import { Kubelet } from "./cluster/Kubelet.ts"
import { Operator } from "./cluster/Operator.ts"
import { PodAddresses } from "./cluster/PodAddresses.ts"
import { defaultClass, Snapshotter } from "./cluster/Snapshotter.ts"
import { Volumes } from "./cluster/Volumes.ts"

const provisioner = "csi.double"
const base64 = (text: string) => Buffer.from(text).toString("base64")

/** Makes the objects of a new cluster. */
const furnish = (store: ObjectStore): void => {
  for (const name of ["default", "kube-system"]) store.create(namespaces, "", { metadata: { name } })
  store.create(storageClasses, "", {
    metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner,
    reclaimPolicy: "Delete",
    allowVolumeExpansion: true
  })
  store.create(storageClasses, "", {
    metadata: { name: "local" },
    provisioner: "rancher.io/local-path",
    reclaimPolicy: "Delete"
  })
  store.create(storageClasses, "", { metadata: { name: "kept" }, provisioner, reclaimPolicy: "Retain" })
  store.create(snapshotClasses, "", {
    metadata: { name: "fast", annotations: { [defaultClass]: "true" } },
    driver: provisioner,
    deletionPolicy: "Delete"
  })
  for (const resource of [clusters, snapshots])
    store.create(definitions, "", {
      metadata: { name: nameOf(resource) },
      spec: { group: resource.group, versions: [{ name: resource.version, served: true, storage: true }] }
    })
}

export class Kubernetes {
  readonly store: ObjectStore
  readonly api: ApiServer
  readonly operator: Operator
  readonly kubelet: Kubelet
  readonly snapshotter: Snapshotter
  readonly #volumes: Volumes
  readonly #addresses: PodAddresses
  readonly #authority: KeyPair
  readonly #token: string
  readonly #stopCollecting: () => void

  private constructor(volumes: Volumes, addresses: PodAddresses, authority: KeyPair, server: KeyPair) {
    this.#volumes = volumes
    this.#addresses = addresses
    this.#authority = authority
    this.#token = randomUUID()
    this.store = new ObjectStore()
    furnish(this.store)
    this.#stopCollecting = collectGarbage(this.store)
    this.api = new ApiServer(this.store, { ...server, ca: authority.cert, token: this.#token })
    this.snapshotter = new Snapshotter(this.store, volumes)
    this.kubelet = new Kubelet(this.store, volumes, addresses)
    this.operator = new Operator(this.store, volumes)
  }

  static async start(): Promise<Kubernetes> {
    const authority = await makeAuthority("kubernetes")
    const names = ["IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes.default.svc"]
    const server = await signServer(authority, "kube-apiserver", names)
    const addresses = await PodAddresses.open()
    const volumes = await Volumes.open()
    const made = new Kubernetes(volumes, addresses, authority, server)
    await made.api.listen()
    return made
  }

  get faults(): Faults {
    return this.api.faults
  }

  /** A kubeconfig with a token, as YAML, of which JSON is a part. */
  get kubeconfig(): string {
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "double",
      clusters: [
        {
          name: "double",
          cluster: { server: this.api.url, "certificate-authority-data": base64(this.#authority.cert) }
        }
      ],
      users: [{ name: "runner", user: { token: this.#token } }],
      contexts: [{ name: "double", context: { cluster: "double", user: "runner", namespace: "default" } }]
    })
  }

  /** An image of the version of Postgres that pods run. */
  get image(): string {
    return `postgres:${this.#volumes.major}`
  }

  /** The contents of a pod's folder with its service account. */
  get serviceAccount(): { readonly url: string; readonly ca: string; readonly token: string } {
    return { url: this.api.url, ca: this.#authority.cert, token: this.#token }
  }

  /** Signs the certificate of a client. */
  get authority(): KeyPair {
    return this.#authority
  }

  /** The pods that run or are about to end. */
  pods(): ReadonlyArray<Fields> {
    return this.store.list(pods)
  }

  clusters(): ReadonlyArray<Fields> {
    return this.store.list(clusters).filter((cluster) => !isDeleting(cluster))
  }

  /** The objects of every kind. */
  everything(): ReadonlyArray<Fields> {
    return allResources.flatMap((resource) => this.store.list(resource))
  }

  /** Errors of the controllers: a test expects none. */
  get failures(): ReadonlyArray<unknown> {
    return [this.operator, this.kubelet, this.snapshotter].flatMap(({ controller }) => controller.failures)
  }

  async close(): Promise<void> {
    await this.api.close()
    this.#stopCollecting()
    await this.operator.close()
    await this.snapshotter.close()
    await this.kubelet.close()
    await this.#addresses.close()
    await this.#volumes.close()
  }
}

export class KubernetesDouble extends Context.Service<KubernetesDouble, Kubernetes>()("test/KubernetesDouble") {
  static readonly layer = Layer.effect(
    KubernetesDouble,
    Effect.acquireRelease(
      Effect.promise(() => Kubernetes.start()),
      (kubernetes) => Effect.promise(() => kubernetes.close())
    )
  )
}
