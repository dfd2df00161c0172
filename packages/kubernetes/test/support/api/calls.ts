/** Calls of the API: what a path and a method name. */
import type { IncomingMessage } from "node:http"
import { badRequest } from "./ApiFailure.ts"
import { type Fields, isFields, type Json } from "./json.ts"
import { allResources, type Resource } from "./resources.ts"

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection"

export interface Call {
  readonly verb: Verb
  readonly resource: Resource
  /** Empty: all namespaces, or an object of none. */
  readonly namespace: string
  /** Empty: the collection. */
  readonly name: string
  readonly subresource: string
  readonly query: URLSearchParams
  readonly contentType: string
  readonly userAgent: string
  readonly body: Fields
}

const maximum = 3 * 1024 ** 2

const bodyOf = async (request: IncomingMessage): Promise<Fields> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue
    size += chunk.length
    if (size > maximum) throw badRequest("request body too large")
    chunks.push(chunk)
  }
  if (size === 0) return {}
  const body = parsed(Buffer.concat(chunks).toString())
  if (!isFields(body)) throw badRequest("the body of the request is no object")
  return body
}

const parsed = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest("the object provided is unrecognized: it is no JSON")
  }
}

interface Place {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
  readonly subresource: string
}

/** The place that a path names among the resources that are served. */
const placeOf = (path: string, served: (resource: Resource) => boolean): Place | undefined => {
  const [root, ...segments] = path.split("/").slice(1).map(decodeURIComponent)
  const [group, version] = root === "api" ? ["", segments.shift()] : [segments.shift(), segments.shift()]
  if ((root !== "api" && root !== "apis") || version === undefined || segments.length === 0) return undefined
  const inNamespace = segments[0] === "namespaces" && segments.length > 2 && segments[2] !== "status"
  const [namespace = "", plural, name = "", subresource = ""] = inNamespace ? segments.slice(1) : ["", ...segments]
  const resource = allResources.find(
    (it) => it.group === group && it.version === version && it.plural === plural && served(it)
  )
  if (resource === undefined || (inNamespace && !resource.namespaced)) return undefined
  if (subresource !== "" && !(subresource === "status" && resource.status)) return undefined
  if (resource.namespaced && namespace === "" && name !== "") return undefined
  return { resource, namespace, name, subresource }
}

const verbOf = (method: string | undefined, { name }: Place, query: URLSearchParams): Verb | undefined => {
  const watches = ["1", "true"].includes(query.get("watch") ?? "")
  const onCollection: Record<string, Verb> = {
    GET: watches ? "watch" : "list",
    POST: "create",
    DELETE: "deletecollection"
  }
  const onObject: Record<string, Verb> = { GET: "get", PUT: "update", PATCH: "patch", DELETE: "delete" }
  return (name === "" ? onCollection : onObject)[method ?? ""]
}

/** The call of a request; `undefined` for a path that is not served. */
export const callOf = async (
  request: IncomingMessage,
  served: (resource: Resource) => boolean
): Promise<Call | undefined> => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://double")
  const place = placeOf(pathname, served)
  const verb = place === undefined ? undefined : verbOf(request.method, place, searchParams)
  if (place === undefined || verb === undefined) return undefined
  return {
    ...place,
    verb,
    query: searchParams,
    contentType: (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "",
    userAgent: request.headers["user-agent"] ?? "unknown",
    body: await bodyOf(request)
  }
}
