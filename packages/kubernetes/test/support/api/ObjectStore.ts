/**
 * The objects of the double, as etcd and the API server keep them: one rising version for all, changes in their order,
 * deletions that wait for finalizers. A change has its rules here, whoever asks for it: a call or a controller.
 */
import { randomUUID } from "node:crypto"
import { alreadyExists, badRequest, conflict, notFound } from "./ApiFailure.ts"
import { FieldOwners } from "./FieldOwners.ts"
import { at, type Fields, fieldsAt, isSame, type Json, listAt, numberAt, textAt, withAt } from "./json.ts"
import { apiVersionOf, namespaces, pods, type Resource } from "./resources.ts"

export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly resource: Resource
  readonly object: Fields
  /** The object before; a watch with a selector sees a change by both. */
  readonly former: Fields | undefined
  readonly version: number
}

export interface Deletion {
  readonly propagationPolicy?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly gracePeriodSeconds?: number
}

export const foreground = "foregroundDeletion"

export const nameIn = (object: Fields) => textAt(object, "metadata", "name")
export const namespaceIn = (object: Fields) => textAt(object, "metadata", "namespace")
export const uidIn = (object: Fields) => textAt(object, "metadata", "uid")
export const versionIn = (object: Fields) => textAt(object, "metadata", "resourceVersion")
export const isDeleting = (object: Fields) => at(object, "metadata", "deletionTimestamp") !== undefined

const seconds = () => `${new Date().toISOString().slice(0, 19)}Z`

export class ObjectStore {
  readonly #objects = new Map<Resource, Map<string, Fields>>()
  readonly #owners = new Map<string, FieldOwners>()
  readonly #listeners = new Set<(change: Change) => void>()
  #changes: Array<Change> = []
  #version = 1_000
  #compacted = 0

  /** The version of the newest change. */
  get version(): number {
    return this.#version
  }

  #of(resource: Resource): Map<string, Fields> {
    const known = this.#objects.get(resource) ?? new Map<string, Fields>()
    this.#objects.set(resource, known)
    return known
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The changes after a version; `undefined` if they are not all kept. */
  since(version: number): ReadonlyArray<Change> | undefined {
    return version < this.#compacted ? undefined : this.#changes.filter((change) => change.version > version)
  }

  /** Forgets the changes so far, as the server does with those of more than five minutes. */
  compact(): void {
    this.#compacted = this.#version
    this.#changes = []
  }

  find(resource: Resource, namespace: string, name: string): Fields | undefined {
    return this.#of(resource).get(`${namespace}/${name}`)
  }

  read(resource: Resource, namespace: string, name: string): Fields {
    const found = this.find(resource, namespace, name)
    if (found === undefined) throw notFound(resource, name)
    return found
  }

  /** All objects in the order of their names; of one namespace, if it is given. */
  list(resource: Resource, namespace?: string): ReadonlyArray<Fields> {
    return [...this.#of(resource)]
      .filter(([key]) => !namespace || key.startsWith(`${namespace}/`))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, object]) => object)
  }

  #commit(type: Change["type"], resource: Resource, former: Fields | undefined, next: Fields): Fields {
    this.#version++
    const object = withAt(next, ["metadata", "resourceVersion"], String(this.#version))
    const key = `${namespaceIn(object)}/${nameIn(object)}`
    if (type === "DELETED") this.#of(resource).delete(key)
    else this.#of(resource).set(key, object)
    if (type === "DELETED") this.#owners.delete(uidIn(object))
    const change = { type, resource, object, former, version: this.#version }
    this.#changes.push(change)
    for (const listener of this.#listeners) listener(change)
    return object
  }

  /** The field managers of an object. */
  ownersOf(object: Fields): FieldOwners {
    const owners = this.#owners.get(uidIn(object)) ?? new FieldOwners()
    this.#owners.set(uidIn(object), owners)
    return owners
  }

  create(resource: Resource, namespace: string, given: Fields): Fields {
    const prefix = textAt(given, "metadata", "generateName")
    const name = nameIn(given) || (prefix === "" ? "" : `${prefix}${randomUUID().slice(0, 5)}`)
    if (name === "") throw badRequest("name or generateName is required")
    if (resource.namespaced) {
      const home = this.read(namespaces, "", namespace)
      if (isDeleting(home)) throw conflict(namespaces, namespace, "it is being terminated")
    }
    if (this.find(resource, namespace, name) !== undefined) throw alreadyExists(resource, name)
    const { resourceVersion: _, ...metadata } = fieldsAt(given, "metadata")
    const made = { uid: randomUUID(), creationTimestamp: seconds(), generation: 1 }
    const { status, ...rest } = given
    return this.#commit("ADDED", resource, undefined, {
      ...rest,
      ...(resource.status || status === undefined ? {} : { status }),
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { ...metadata, name, ...(resource.namespaced ? { namespace } : {}), ...made }
    })
  }

  /**
   * Replaces an object by its next state. A version in `next` has to be that of the object. With `status` only that
   * changes, without it all but that.
   */
  replace(resource: Resource, former: Fields, next: Fields, status = false): Fields {
    const name = nameIn(former)
    const asked = versionIn(next)
    if (asked !== "" && asked !== versionIn(former))
      throw conflict(
        resource,
        name,
        "the object has been modified; please apply your changes to the latest version and try again"
      )
    const askedUid = uidIn(next)
    if (askedUid !== "" && askedUid !== uidIn(former))
      throw conflict(resource, name, `Precondition failed: UID in precondition: ${askedUid}`)
    if (status) return this.#put(resource, former, withAt(former, ["status"], at(next, "status")))
    const fixed = [
      "uid",
      "creationTimestamp",
      "name",
      "namespace",
      "deletionTimestamp",
      "generation",
      "resourceVersion"
    ]
    let kept = resource.status ? withAt(next, ["status"], at(former, "status")) : next
    for (const member of fixed) kept = withAt(kept, ["metadata", member], at(former, "metadata", member))
    const specOf = ({ metadata: _, status: __, ...rest }: Fields): Json => rest
    if (!isSame(specOf(former), specOf(kept)))
      kept = withAt(kept, ["metadata", "generation"], (numberAt(former, "metadata", "generation") ?? 1) + 1)
    return this.#put(resource, former, kept)
  }

  #put(resource: Resource, former: Fields, next: Fields): Fields {
    if (isSame(former, next)) return former
    const done = isDeleting(next) && listAt(next, "metadata", "finalizers").length === 0 && !isGraceful(resource, next)
    return this.#commit(done ? "DELETED" : "MODIFIED", resource, former, next)
  }

  /** Changes an object as a controller does, which reads it and writes at once. Nothing happens if it is gone. */
  update(resource: Resource, object: Fields, change: (object: Fields) => Fields): void {
    const found = this.find(resource, namespaceIn(object), nameIn(object))
    if (found === undefined || uidIn(found) !== uidIn(object)) return
    const unversioned = (it: Fields) => withAt(it, ["metadata", "resourceVersion"], undefined)
    const next = unversioned(change(found))
    if (isSame(unversioned(found), next)) return
    const settled = this.replace(resource, found, next)
    if (resource.status && !isSame(at(found, "status"), at(next, "status"))) this.replace(resource, settled, next, true)
  }

  /** Deletes an object, or begins to. Returns what is left of it. */
  delete(resource: Resource, object: Fields, options: Deletion = {}): Fields | undefined {
    const found = this.read(resource, namespaceIn(object), nameIn(object))
    for (const [member, asked] of [
      ["uid", options.uid],
      ["resourceVersion", options.resourceVersion]
    ] as const)
      if (asked !== undefined && asked !== textAt(found, "metadata", member))
        throw conflict(resource, nameIn(found), `Precondition failed: ${member} in precondition: ${asked}`)
    const finalizers = new Set(listAt(found, "metadata", "finalizers"))
    if (options.propagationPolicy === "Foreground") finalizers.add(foreground)
    const waits = finalizers.size > 0 || (isGraceful(resource, found) && options.gracePeriodSeconds !== 0)
    if (!waits) {
      this.#commit("DELETED", resource, found, found)
      return undefined
    }
    let next = withAt(found, ["metadata", "finalizers"], [...finalizers])
    if (finalizers.size === 0) next = withAt(next, ["metadata", "finalizers"], undefined)
    if (!isDeleting(found)) next = withAt(next, ["metadata", "deletionTimestamp"], seconds())
    if (isSame(found, next)) return found
    return this.#commit("MODIFIED", resource, found, next)
  }

  /** Removes an object that waited for its end alone, as a pod does. */
  remove(resource: Resource, object: Fields): void {
    const found = this.find(resource, namespaceIn(object), nameIn(object))
    if (found !== undefined && uidIn(found) === uidIn(object)) this.#commit("DELETED", resource, found, found)
  }
}

/** Pods that run and namespaces end later: their controllers remove them. */
const isGraceful = (resource: Resource, object: Fields) =>
  resource === namespaces || (resource === pods && !["Succeeded", "Failed"].includes(textAt(object, "status", "phase")))
