/**
 * The node: pods become servers of Postgres on the volumes of their claims. A pod without a volume is a job, which gets an
 * address and does nothing.
 */
import { createHash } from "node:crypto"
import { at, type Fields, fieldsAt, listAt, numberAt, textAt, withAt } from "../api/json.ts"
import { isDeleting, nameIn, namespaceIn, type ObjectStore, uidIn } from "../api/ObjectStore.ts"
import { claims, clusters, pods, secrets } from "../api/resources.ts"
import { Controller, itself } from "./Controller.ts"
import type { PodAddresses } from "./PodAddresses.ts"
import { PodPostgres } from "./PodPostgres.ts"
import type { Volumes } from "./Volumes.ts"

interface Running {
  readonly address: string
  readonly server: PodPostgres | undefined
}

export const decoded = (secret: Fields | undefined, member: string): string =>
  Buffer.from(textAt(secret, "data", member), "base64").toString()

/** The state of a condition in an object's list, with its other conditions. */
export const withCondition = (object: Fields, type: string, condition: Fields | undefined): Fields => {
  const others = listAt(object, "status", "conditions").filter((it) => textAt(it, "type") !== type)
  const own = condition === undefined ? [] : [{ type, ...condition }]
  return withAt(object, ["status", "conditions"], [...others, ...own])
}

export const conditionOf = (object: Fields, type: string): Fields =>
  fieldsAt(listAt(object, "status", "conditions").find((it) => textAt(it, "type") === type))

const texts = (fields: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

export class Kubelet {
  readonly #store: ObjectStore
  readonly #volumes: Volumes
  readonly #addresses: PodAddresses
  readonly #running = new Map<string, Running>()
  readonly controller: Controller
  /** Whether the nodes have room for pods. */
  hasRoom = true
  /** Called between the moment in which a server accepts connections and the one in which it has its password. */
  beforePassword: () => Promise<void> = async () => undefined

  constructor(store: ObjectStore, volumes: Volumes, addresses: PodAddresses) {
    this.#store = store
    this.#volumes = volumes
    this.#addresses = addresses
    this.controller = new Controller(store, pods, itself(pods), (pod) => this.#reconcile(pod))
  }

  async #reconcile(pod: Fields): Promise<void> {
    const running = this.#running.get(uidIn(pod))
    if (isDeleting(pod)) return this.#end(pod, running)
    if (running !== undefined) return
    if (!this.hasRoom) return this.#unschedulable(pod)
    const address = this.#addresses.take()
    this.#running.set(uidIn(pod), { address, server: undefined })
    this.#store.update(pods, pod, (it) => {
      const status = { phase: "Running", podIP: address, podIPs: [{ ip: address }], hostIP: "127.0.0.1" }
      const placed = withAt(withAt(it, ["spec", "nodeName"], "node-1"), ["status"], {
        ...fieldsAt(it, "status"),
        ...status
      })
      return withCondition(placed, "PodScheduled", { status: "True" })
    })
    if (listAt(pod, "spec", "volumes").length > 0) await this.#start(pod, address)
  }

  #unschedulable(pod: Fields): void {
    const why = { status: "False", reason: "Unschedulable", message: "0/1 nodes are available: 1 Insufficient memory." }
    this.#store.update(pods, pod, (it) =>
      withCondition(withAt(it, ["status", "phase"], "Pending"), "PodScheduled", why)
    )
  }

  async #start(pod: Fields, address: string): Promise<void> {
    const namespace = namespaceIn(pod)
    const cluster = this.#store.find(clusters, namespace, textAt(pod, "metadata", "labels", "cnpg.io/cluster"))
    const claimName = textAt(listAt(pod, "spec", "volumes")[0], "persistentVolumeClaim", "claimName")
    const claim = this.#store.find(claims, namespace, claimName)
    if (cluster === undefined || claim === undefined) return
    const secretOf = (suffix: string) => this.#store.find(secrets, namespace, `${nameIn(cluster)}-${suffix}`)
    const server = await PodPostgres.spawn({
      volume: this.#volumes.pathOf(uidIn(claim)),
      address,
      certificate: { cert: decoded(secretOf("server"), "tls.crt"), key: decoded(secretOf("server"), "tls.key") },
      authority: decoded(secretOf("ca"), "ca.crt"),
      parameters: texts(fieldsAt(cluster, "spec", "postgresql", "parameters")),
      access: listAt(cluster, "spec", "postgresql", "pg_hba").map(String),
      programs: this.#volumes.programs
    })
    this.#running.set(uidIn(pod), { address, server })
    await server.ready()
    await this.beforePassword()
    const superuser = secretOf("superuser")
    const password = superuser === undefined ? "NULL" : `'${decoded(superuser, "password")}'`
    await server.execute(`ALTER ROLE postgres PASSWORD ${password}`)
    await this.#bootstrap(cluster, server)
    this.#setReady(pod, true)
    const again = server.exited().then(() => this.#restart(pod, server))
    again.catch((cause: unknown) => void this.controller.failures.push(cause))
  }

  /** Makes the database and its owner, as the job of `initdb` does. */
  async #bootstrap(cluster: Fields, server: PodPostgres): Promise<void> {
    const initdb = at(cluster, "spec", "bootstrap", "initdb")
    if (initdb === undefined || conditionOf(cluster, "Initialized")["status"] === "True") return
    const database = textAt(initdb, "database") || "app"
    const owner = textAt(initdb, "owner") || database
    await server.execute(
      "CREATE ROLE streaming_replica LOGIN REPLICATION",
      `CREATE ROLE "${owner}" LOGIN`,
      `CREATE DATABASE "${database}" OWNER "${owner}"`
    )
  }

  #setReady(pod: Fields, ready: boolean): void {
    this.#store.update(pods, pod, (it) => withCondition(it, "Ready", { status: ready ? "True" : "False" }))
  }

  /** A container that has ended is started again in its pod, with the same address. */
  async #restart(pod: Fields, server: PodPostgres): Promise<void> {
    const running = this.#running.get(uidIn(pod))
    const found = this.#store.find(pods, namespaceIn(pod), nameIn(pod))
    if (running?.server !== server || found === undefined || isDeleting(found)) return
    this.#setReady(pod, false)
    await this.#start(pod, running.address)
  }

  async #end(pod: Fields, running: Running | undefined): Promise<void> {
    this.#setReady(pod, false)
    const cluster = this.#store.find(clusters, namespaceIn(pod), textAt(pod, "metadata", "labels", "cnpg.io/cluster"))
    await running?.server?.stop(numberAt(cluster, "spec", "smartShutdownTimeout") ?? 180)
    this.#running.delete(uidIn(pod))
    if (running !== undefined) this.#addresses.give(running.address)
    this.#store.remove(pods, pod)
  }

  /** The server of a pod. */
  serverOf(pod: Fields): PodPostgres {
    const server = this.#running.get(uidIn(pod))?.server
    if (server === undefined) throw new Error(`The pod ${nameIn(pod)} has no server.`)
    return server
  }

  /** Looks at the pods that wait for room again. */
  schedule(): void {
    this.hasRoom = true
    for (const pod of this.#store.list(pods)) this.controller.enqueue(namespaceIn(pod), nameIn(pod))
  }

  async close(): Promise<void> {
    await this.controller.close()
    const servers = [...this.#running.values()].flatMap(({ server }) => server ?? [])
    this.#running.clear()
    await Promise.all(servers.map((server) => server.kill()))
  }
}

/** Letters and digits, the same for each use of a cluster's uid. */
export const passwordOf = (cluster: Fields): string =>
  createHash("sha256")
    .update(`password ${uidIn(cluster)}`)
    .digest("hex")
