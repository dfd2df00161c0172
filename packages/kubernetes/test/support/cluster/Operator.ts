/**
 * The operator of clusters: secrets, services, a claim with its data, and a pod, as version 1.30 makes them for a cluster
 * of one instance. Hibernation ends the pod once the cluster has been healthy.
 */

import { ownedBy } from "../api/collectGarbage.ts"
import type { Fields } from "../api/json.ts"
import { at, fieldsAt, listAt, textAt, withAt } from "../api/json.ts"
import { isDeleting, nameIn, namespaceIn, type ObjectStore, uidIn } from "../api/ObjectStore.ts"
import { claims, clusters, pods, type Resource, secrets, services, snapshots } from "../api/resources.ts"
import { type KeyPair, makeAuthority, signClient, signServer } from "./authority.ts"
import { Controller } from "./Controller.ts"
import { conditionOf, passwordOf, withCondition } from "./Kubelet.ts"
import { claimOf } from "./Snapshotter.ts"
import type { Volumes } from "./Volumes.ts"

const hibernation = "cnpg.io/hibernation"
const healthy = "Cluster in healthy state"

export const clusterLabel = "cnpg.io/cluster"

const encoded = (texts: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]))

const specOfPod = "cnpg.io/podSpec"
const rolledOut = ["metadata", "annotations", specOfPod]

/** The parts of a cluster that its pod is made of: a change of them replaces the pod. */
const rolloutOf = (cluster: Fields): string => {
  const {
    imageCatalogRef = "",
    imageName = "",
    postgresql = {},
    probes = "",
    resources = ""
  } = fieldsAt(cluster, "spec")
  return JSON.stringify([imageCatalogRef, imageName, fieldsAt(postgresql, "parameters"), probes, resources])
}

/** A pod that starts is left alone. */
const canRollOut = (pod: Fields): boolean =>
  conditionOf(pod, "Ready")["status"] === "True" || conditionOf(pod, "PodScheduled")["status"] === "False"

/** Bytes of a quantity such as `1Gi`. */
const bytesOf = (quantity: string): number => {
  const [, number = "0", unit = ""] = /^(\d+)(Ki|Mi|Gi|Ti)?$/.exec(quantity) ?? []
  return Number(number) * 1024 ** ["", "Ki", "Mi", "Gi", "Ti"].indexOf(unit)
}

export class Operator {
  readonly #store: ObjectStore
  readonly #volumes: Volumes
  readonly controller: Controller
  /** Whether it works; changes of clusters wait while it does not. */
  #paused = false

  constructor(store: ObjectStore, volumes: Volumes) {
    this.#store = store
    this.#volumes = volumes
    this.controller = new Controller(
      store,
      clusters,
      ({ object, resource }) => {
        if (resource === clusters) return nameIn(object)
        if (resource === snapshots) this.#lookAgain(namespaceIn(object))
        return textAt(object, "metadata", "labels", clusterLabel) || undefined
      },
      (cluster) => this.#reconcile(cluster)
    )
  }

  /** Clusters that wait for a snapshot. */
  #lookAgain(namespace: string): void {
    for (const cluster of this.#store.list(clusters, namespace)) this.controller.enqueue(namespace, nameIn(cluster))
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    for (const cluster of this.#store.list(clusters)) this.controller.enqueue(namespaceIn(cluster), nameIn(cluster))
  }

  async #reconcile(cluster: Fields): Promise<void> {
    if (this.#paused || isDeleting(cluster)) return
    await this.#secrets(cluster)
    this.#services(cluster)
    if (!(await this.#hasData(cluster))) return
    const asked = textAt(cluster, "metadata", "annotations", hibernation)
    const isHealthy = textAt(cluster, "status", "phase") === healthy
    const pod = this.#find(pods, cluster, "-1")
    if (asked !== "" && asked !== "on" && asked !== "off")
      return this.#condition(cluster, hibernation, { status: "False", reason: "WrongAnnotationValue" })
    if (asked === "on" && isHealthy) return this.#hibernate(cluster, pod)
    const waiting = asked === "on" ? { status: "False", reason: "WaitingForHealthy" } : undefined
    this.#condition(cluster, hibernation, waiting)
    if (pod === undefined) this.#startPod(cluster)
    else if (textAt(pod, ...rolledOut) !== rolloutOf(cluster) && canRollOut(pod)) this.#store.delete(pods, pod)
    else if (!isDeleting(pod) && conditionOf(pod, "Ready")["status"] === "True") this.#setHealthy(cluster)
    else this.#phase(cluster, "Waiting for the instances to become active")
  }

  #find(resource: Resource, cluster: Fields, suffix: string): Fields | undefined {
    return this.#store.find(resource, namespaceIn(cluster), `${nameIn(cluster)}${suffix}`)
  }

  #make(resource: Resource, cluster: Fields, suffix: string, object: Fields): void {
    if (this.#find(resource, cluster, suffix) !== undefined) return
    const labels = { [clusterLabel]: nameIn(cluster), ...fieldsAt(object, "metadata", "labels") }
    const metadata = { ...fieldsAt(object, "metadata"), name: `${nameIn(cluster)}${suffix}`, labels }
    const made = this.#store.create(resource, namespaceIn(cluster), {
      ...object,
      metadata: { ...metadata, ownerReferences: [ownedBy(cluster)] }
    })
    if ("status" in object) this.#store.update(resource, made, (it) => withAt(it, ["status"], at(object, "status")))
  }

  async #secrets(cluster: Fields): Promise<void> {
    const [name, namespace] = [nameIn(cluster), namespaceIn(cluster)]
    if (this.#find(secrets, cluster, "-ca") === undefined) {
      const authority = await makeAuthority(name)
      const service = (kind: string) => {
        const host = `${name}-${kind}`
        return [host, `${host}.${namespace}`, `${host}.${namespace}.svc`, `${host}.${namespace}.svc.cluster.local`]
      }
      const names = ["rw", "r", "ro"].flatMap(service).map((host) => `DNS:${host}`)
      const server = await signServer(authority, `${name}-rw`, names)
      const replication = await signClient(authority, "streaming_replica")
      const pair = ({ cert, key }: KeyPair) => encoded({ "tls.crt": cert, "tls.key": key })
      this.#make(secrets, cluster, "-ca", { data: encoded({ "ca.crt": authority.cert, "ca.key": authority.key }) })
      this.#make(secrets, cluster, "-server", { type: "kubernetes.io/tls", data: pair(server) })
      this.#make(secrets, cluster, "-replication", { type: "kubernetes.io/tls", data: pair(replication) })
    }
    const login = (username: string, password: string, dbname: string) => ({
      type: "kubernetes.io/basic-auth",
      data: encoded({ username, user: username, password, dbname, host: `${name}-rw`, port: "5432" })
    })
    this.#make(secrets, cluster, "-app", login("app", `app-${uidIn(cluster)}`, "app"))
    if (at(cluster, "spec", "enableSuperuserAccess") === true)
      this.#make(secrets, cluster, "-superuser", login("postgres", passwordOf(cluster), "*"))
  }

  #services(cluster: Fields): void {
    const disabled = listAt(cluster, "spec", "managed", "services", "disabledDefaultServices")
    for (const kind of ["rw", "r", "ro"])
      if (!disabled.includes(kind)) this.#make(services, cluster, `-${kind}`, { spec: { ports: [{ port: 5432 }] } })
  }

  /** Whether the data are there; makes them, in a job. */
  async #hasData(cluster: Fields): Promise<boolean> {
    const existing = this.#find(claims, cluster, "-1")
    if (existing !== undefined && (await this.#volumes.has(uidIn(existing)))) return true
    this.#phase(cluster, "Setting up primary")
    const source = this.#sourceOf(cluster)
    if (source === undefined) return false
    this.#make(claims, cluster, "-1", claimOf(cluster, `${nameIn(cluster)}-1`, ownedBy(cluster)))
    const kind = source === "empty" ? "initdb" : "snapshot-recovery"
    this.#make(pods, cluster, `-1-${kind}`, {
      metadata: { labels: { "cnpg.io/jobRole": kind, "cnpg.io/instanceName": `${nameIn(cluster)}-1` } },
      spec: { restartPolicy: "Never" }
    })
    const claim = this.#store.read(claims, namespaceIn(cluster), `${nameIn(cluster)}-1`)
    if (source === "empty") await this.#volumes.initialise(uidIn(claim))
    else await this.#volumes.restore(uidIn(source), uidIn(claim))
    const job = this.#find(pods, cluster, `-1-${kind}`)
    if (job !== undefined) this.#store.delete(pods, job)
    // The cluster, or its claim, may have been deleted during the copy.
    if (this.#find(claims, cluster, "-1") === undefined) await this.#volumes.remove(uidIn(claim))
    const current = this.#store.find(clusters, namespaceIn(cluster), nameIn(cluster))
    return current !== undefined && !isDeleting(current)
  }

  /** The origin of the data: nothing, or a snapshot that can be used; `undefined` while there is none. */
  #sourceOf(cluster: Fields): "empty" | Fields | undefined {
    const storage = at(cluster, "spec", "bootstrap", "recovery", "volumeSnapshots", "storage")
    if (storage === undefined) return at(cluster, "spec", "bootstrap", "recovery") === undefined ? "empty" : undefined
    const isNamed = textAt(storage, "kind") === "VolumeSnapshot" && textAt(storage, "apiGroup") === snapshots.group
    const found = isNamed ? this.#store.find(snapshots, namespaceIn(cluster), textAt(storage, "name")) : undefined
    if (found === undefined || at(found, "status", "readyToUse") !== true) return undefined
    const [asked, least] = [textAt(cluster, "spec", "storage", "size"), textAt(found, "status", "restoreSize")]
    return bytesOf(asked) < bytesOf(least) ? undefined : found
  }

  #startPod(cluster: Fields): void {
    this.#phase(cluster, "Waiting for the instances to become active")
    const name = `${nameIn(cluster)}-1`
    const inherited = fieldsAt(cluster, "spec", "inheritedMetadata", "labels")
    const roles = { "cnpg.io/instanceName": name, "cnpg.io/instanceRole": "primary", "cnpg.io/podRole": "instance" }
    this.#make(pods, cluster, "-1", {
      metadata: { labels: { ...inherited, ...roles }, annotations: { [specOfPod]: rolloutOf(cluster) } },
      spec: {
        containers: [{ name: "postgres", resources: fieldsAt(cluster, "spec", "resources") }],
        volumes: [{ name: "pgdata", persistentVolumeClaim: { claimName: name } }]
      },
      status: { phase: "Pending" }
    })
    this.#store.update(clusters, cluster, (it) => {
      const primary = { ...fieldsAt(it, "status"), currentPrimary: name, targetPrimary: name }
      return withAt(it, ["status"], { ...primary, healthyPVC: [name], danglingPVC: [] })
    })
  }

  #setHealthy(cluster: Fields): void {
    this.#store.update(clusters, cluster, (it) => {
      const counts = { instances: 1, readyInstances: 1, instanceNames: [`${nameIn(cluster)}-1`] }
      const status = withAt(it, ["status"], { ...fieldsAt(it, "status"), ...counts, phase: healthy })
      const ready = withCondition(status, "Ready", { status: "True", reason: "ClusterIsReady" })
      return withCondition(ready, "Initialized", { status: "True", reason: "ClusterInitialized" })
    })
  }

  #hibernate(cluster: Fields, pod: Fields | undefined): void {
    if (pod !== undefined) {
      this.#condition(cluster, hibernation, { status: "False", reason: "WaitingPodsDeletion" })
      if (!isDeleting(pod)) this.#store.delete(pods, pod)
      return
    }
    this.#store.update(clusters, cluster, (it) => {
      const name = `${nameIn(cluster)}-1`
      const gone = { readyInstances: 0, instances: 0, danglingPVC: [name], healthyPVC: [] }
      const status = withAt(it, ["status"], { ...fieldsAt(it, "status"), ...gone })
      const ready = withCondition(status, "Ready", { status: "False", reason: "ClusterIsNotReady" })
      return withCondition(ready, hibernation, { status: "True", reason: "Hibernated" })
    })
  }

  #phase(cluster: Fields, phase: string): void {
    this.#store.update(clusters, cluster, (it) => withAt(it, ["status", "phase"], phase))
  }

  #condition(cluster: Fields, type: string, condition: Fields | undefined): void {
    if (condition === undefined && conditionOf(cluster, type)["status"] === undefined) return
    this.#store.update(clusters, cluster, (it) => withCondition(it, type, condition))
  }

  close(): Promise<void> {
    return this.controller.close()
  }
}
