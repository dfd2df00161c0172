/** Carries out calls on objects, watches excepted. */
import { ApiFailure, badRequest, conflict, expired, notFound } from "./ApiFailure.ts"
import type { Admission } from "./admission.ts"
import type { Call } from "./calls.ts"
import { type Fields, fieldsAt, isFields, type Json, mergePatch, numberAt, textAt, withAt } from "./json.ts"
import { type Deletion, nameIn, namespaceIn, type ObjectStore, versionIn } from "./ObjectStore.ts"
import { accessReviews, apiVersionOf, type Resource } from "./resources.ts"
import { matcherOf } from "./selectors.ts"

export interface Answer {
  readonly status: number
  readonly body: Json
  readonly headers?: Readonly<Record<string, string>>
}

/** Whether the caller may do something; left out members stand for all. */
export type Permits = (asked: {
  readonly verb: string
  readonly resource: string
  readonly namespace: string
}) => boolean

interface Page {
  readonly version: number
  readonly left: ReadonlyArray<Fields>
}

/** The rest of lists that were answered in part. */
export class Pages {
  readonly #pages = new Map<string, Page>()
  #count = 0

  keep(page: Page): string {
    const token = `page-${this.#count++}`
    this.#pages.set(token, page)
    return token
  }

  read(token: string): Page {
    const page = this.#pages.get(token)
    if (page === undefined)
      throw expired("The provided continue parameter is too old to display a consistent list result.")
    return page
  }

  /** Every token becomes too old. */
  expire(): void {
    this.#pages.clear()
  }
}

export interface Performing {
  readonly store: ObjectStore
  readonly admission: Admission
  readonly pages: Pages
  readonly permits: Permits
}

const list = ({ pages, store }: Performing, { namespace, query, resource }: Call): Answer => {
  const token = query.get("continue") ?? ""
  const limit = Number(query.get("limit") ?? 0)
  const matches = matcherOf(query.get("labelSelector"), query.get("fieldSelector"))
  const { left, version } =
    token === "" ? { version: store.version, left: store.list(resource, namespace).filter(matches) } : pages.read(token)
  const items = limit > 0 ? left.slice(0, limit) : left
  const rest = left.slice(items.length)
  const more =
    rest.length === 0 ? {} : { continue: pages.keep({ version, left: rest }), remainingItemCount: rest.length }
  return {
    status: 200,
    body: {
      kind: `${resource.kind}List`,
      apiVersion: apiVersionOf(resource),
      metadata: { resourceVersion: String(version), ...more },
      items
    }
  }
}

const managerOf = ({ query, userAgent }: Call) => query.get("fieldManager") ?? userAgent.split("/")[0] ?? "unknown"

/** The next state of an object as its owner recorded it. */
const write = (context: Performing, call: Call, former: Fields, next: Fields, applied = false): Fields => {
  const { admission, store } = context
  const status = call.subresource === "status"
  if (!status) admission.check(call.resource, next, former)
  const written = store.replace(call.resource, former, next, status)
  if (!applied) store.ownersOf(written).changed(managerOf(call), former, written)
  return written
}

const create = ({ admission, store }: Performing, call: Call, body: Fields): Fields => {
  admission.check(call.resource, body, undefined)
  const made = store.create(call.resource, call.namespace, body)
  store.ownersOf(made).changed(managerOf(call), undefined, made)
  return made
}

const apply = (context: Performing, call: Call): Answer => {
  const { body, name, namespace, query, resource } = call
  const manager = query.get("fieldManager")
  if (manager === null)
    throw badRequest("PatchOptions.meta.k8s.io is invalid: fieldManager: Required value: is required for apply patch")
  if ("managedFields" in fieldsAt(body, "metadata")) throw badRequest("metadata.managedFields must be nil")
  if (textAt(body, "apiVersion") !== apiVersionOf(resource) || textAt(body, "kind") !== resource.kind)
    throw badRequest("apiVersion and kind must be set, and those of the path")
  const former = context.store.find(resource, namespace, name)
  if (former === undefined) {
    if (versionIn(body) !== "") throw conflict(resource, name, "the object does not exist")
    const named = withAt(body, ["metadata", "name"], name)
    context.admission.check(resource, named, undefined)
    const made = context.store.create(resource, namespace, named)
    context.store.ownersOf(made).apply(manager, made, body, true)
    return { status: 201, body: made }
  }
  const owners = context.store.ownersOf(former)
  const next = owners.apply(manager, former, body, query.get("force") === "true")
  const asked = versionIn(body)
  const versioned = withAt(next, ["metadata", "resourceVersion"], asked === "" ? undefined : asked)
  return { status: 200, body: write(context, call, former, versioned, true) }
}

const patch = (context: Performing, call: Call): Answer => {
  const { body, contentType, name, namespace, resource } = call
  if (contentType === "application/apply-patch+yaml") return apply(context, call)
  if (contentType !== "application/merge-patch+json")
    throw new ApiFailure(
      415,
      "UnsupportedMediaType",
      `the body of the request was in an unknown format: ${contentType}`
    )
  const former = context.store.read(resource, namespace, name)
  const next = mergePatch(withAt(former, ["metadata", "resourceVersion"], undefined), body)
  if (!isFields(next)) throw badRequest("the patch leaves no object")
  return { status: 200, body: write(context, call, former, next) }
}

const deletionOf = ({ body, query }: Call): Deletion => {
  const policy = query.get("propagationPolicy") ?? textAt(body, "propagationPolicy")
  const [uid, resourceVersion] = ["uid", "resourceVersion"].map((name) => textAt(body, "preconditions", name))
  const grace = numberAt(body, "gracePeriodSeconds")
  return {
    ...(policy === "" ? {} : { propagationPolicy: policy }),
    ...(uid === undefined || uid === "" ? {} : { uid }),
    ...(resourceVersion === undefined || resourceVersion === "" ? {} : { resourceVersion }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace })
  }
}

const success = (resource: Resource, object: Fields): Fields => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: { name: nameIn(object), group: resource.group, kind: resource.plural }
})

const review = ({ permits }: Performing, body: Fields): Fields => {
  const asked = fieldsAt(body, "spec", "resourceAttributes")
  const group = textAt(asked, "group")
  const resource = group === "" ? textAt(asked, "resource") : `${textAt(asked, "resource")}.${group}`
  const allowed = permits({ verb: textAt(asked, "verb"), resource, namespace: textAt(asked, "namespace") })
  return { ...body, metadata: {}, status: { allowed, ...(allowed ? {} : { reason: "no rule allows it" }) } }
}

export const perform = (context: Performing, call: Call): Answer => {
  const { body, name, namespace, resource, verb } = call
  const { store } = context
  switch (verb) {
    case "get":
      return { status: 200, body: store.read(resource, namespace, name) }
    case "list":
      return list(context, call)
    case "create":
      if (resource === accessReviews) return { status: 201, body: review(context, body) }
      return { status: 201, body: create(context, call, body) }
    case "update":
      return { status: 200, body: write(context, call, store.read(resource, namespace, name), body) }
    case "patch":
      return patch(context, call)
    case "delete": {
      const found = store.read(resource, namespace, name)
      return { status: 200, body: store.delete(resource, found, deletionOf(call)) ?? success(resource, found) }
    }
    case "deletecollection": {
      const matches = matcherOf(call.query.get("labelSelector"), call.query.get("fieldSelector"))
      const found = store.list(resource, namespace).filter(matches)
      for (const object of found)
        if (store.find(resource, namespaceIn(object), nameIn(object)) !== undefined)
          store.delete(resource, object, deletionOf(call))
      return { status: 200, body: { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), items: found } }
    }
    case "watch":
      throw notFound(resource, name)
  }
}
