/**
 * The controllers that end objects: dependents follow their owners, foreground deletions wait for dependents, namespaces
 * for their contents, claims for the pods that use them.
 */
import { type Fields, fieldsAt, isFields, type Json, listAt, textAt, withAt } from "./json.ts"
import { foreground, isDeleting, nameIn, namespaceIn, type ObjectStore, uidIn } from "./ObjectStore.ts"
import { allResources, claims, namespaces, pods, type Resource } from "./resources.ts"

export const claimProtection = "kubernetes.io/pvc-protection"

interface Known {
  readonly resource: Resource
  readonly object: Fields
}

const ownersOf = (object: Fields) => listAt(object, "metadata", "ownerReferences").map((owner) => fieldsAt(owner))

const uses = (pod: Fields, claim: Fields) =>
  namespaceIn(pod) === namespaceIn(claim) &&
  listAt(pod, "spec", "volumes").some((it) => textAt(it, "persistentVolumeClaim", "claimName") === nameIn(claim))

const without = (finalizer: Json) => (object: Fields) => {
  const left = listAt(object, "metadata", "finalizers").filter((it) => it !== finalizer)
  return withAt(object, ["metadata", "finalizers"], left.length === 0 ? undefined : left)
}

const sweep = (store: ObjectStore): void => {
  const all = allResources.flatMap((resource) => store.list(resource).map((object): Known => ({ resource, object })))
  const uids = new Set(all.map(({ object }) => uidIn(object)))
  const end = ({ object, resource }: Known) => {
    if (!isDeleting(object) && store.find(resource, namespaceIn(object), nameIn(object)) !== undefined)
      store.delete(resource, object)
  }
  for (const known of all) {
    const owners = ownersOf(known.object)
    if (owners.length > 0 && !owners.some((owner) => uids.has(textAt(owner, "uid")))) end(known)
  }
  for (const { object, resource } of all) {
    if (!isDeleting(object)) continue
    if (listAt(object, "metadata", "finalizers").includes(foreground)) {
      const owned = (blocking: boolean) => (known: Known) =>
        ownersOf(known.object).some(
          (owner) => textAt(owner, "uid") === uidIn(object) && (!blocking || owner["blockOwnerDeletion"] === true)
        )
      all.filter(owned(false)).forEach(end)
      if (!all.some(owned(true))) store.update(resource, object, without(foreground))
    }
    if (resource === claims && !all.some((it) => it.resource === pods && uses(it.object, object)))
      store.update(resource, object, without(claimProtection))
    if (resource === namespaces) {
      const inside = all.filter((it) => it.resource.namespaced && namespaceIn(it.object) === nameIn(object))
      inside.forEach(end)
      if (inside.length === 0) store.remove(namespaces, object)
    }
  }
}

/** Runs after each change, until the returned function is called. */
export const collectGarbage = (store: ObjectStore): (() => void) => {
  let due = false
  const stop = store.onChange(() => {
    if (due) return
    due = true
    setImmediate(() => {
      due = false
      sweep(store)
    })
  })
  return stop
}

/** An owner reference as a controller writes it. */
export const ownedBy = (owner: Fields): Fields => {
  const { apiVersion = "", kind = "" } = owner
  return { apiVersion, kind, name: nameIn(owner), uid: uidIn(owner), controller: true, blockOwnerDeletion: true }
}

/** The owner among the objects of a resource, by its reference. */
export const isOwnedBy = (object: Fields, owner: Fields): boolean =>
  ownersOf(object).some((it) => isFields(it) && textAt(it, "uid") === uidIn(owner))
