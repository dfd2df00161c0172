/**
 * The methods of each path, so that a wrong method is 405 with `Allow` and not 404, and the endpoints without a policy,
 * or without a name in the audit log.
 * The contract is read once, at start.
 */
import { Api, AuditedAs, policyOf } from "@narthex/api"
import { Context } from "effect"
import { docsPaths } from "../docs/docsRoutes.ts"

const endpoints = Object.values(Api.groups).flatMap((group) => Object.values(group.endpoints))

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/:\w+/g, "[^/]+")}$`)

const routes = [
  ...endpoints.map(({ method, path }) => ({ method: String(method), path: String(path) })),
  ...docsPaths.map((path) => ({ method: "GET", path }))
]

/** Paths with the same first two segments and length. Every request is looked up, so few patterns should be tried. */
const bucketOf = (path: string) => {
  const [, first, second, ...rest] = path.split("/")
  return `${rest.length} ${first}/${second}`
}

const sorted = (methods: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(methods)].toSorted()

const paths = [...Map.groupBy(routes, ({ path }) => path)].map(([path, all]) => {
  const methods = all.map(({ method }) => method)
  return { path, pattern: patternOf(path), methods: sorted(methods.includes("GET") ? [...methods, "HEAD"] : methods) }
})

const buckets = Map.groupBy(paths, ({ path }) => bucketOf(path))

/** The path of the contract that a path is of, and its methods, sorted; `other` and none when there is no such path. */
export const routeOf = (path: string): { readonly route: string; readonly methods: ReadonlyArray<string> } => {
  const [first, ...others] = (buckets.get(bucketOf(path)) ?? []).filter(({ pattern }) => pattern.test(path))
  if (first === undefined) return { route: "other", methods: [] }
  const methods = others.length === 0 ? first.methods : sorted([first, ...others].flatMap((it) => it.methods))
  return { route: first.path, methods }
}

/** The methods of a path, sorted; empty when there is no such path. */
export const allowedMethods = (path: string): ReadonlyArray<string> => routeOf(path).methods

/**
 * Whether a path of a host is the API's: any path below `/v1`, where an unknown one is answered with 404, or a path of
 * the contract. `atRoot`: the paths about the process and its pages (`/livez`, `/docs`) are the host's own.
 */
export const isApiPath = (path: string, atRoot: boolean): boolean =>
  path.startsWith("/v1/") || ((!atRoot || path.startsWith("/.well-known/")) && allowedMethods(path).length > 0)

/** The endpoints without a policy. The server does not start while there is one. */
export const withoutPolicy: ReadonlyArray<string> = endpoints
  .filter((endpoint) => policyOf(endpoint) === undefined)
  .map(({ method, path }) => `${method} ${path}`)

/** The changes of people and keys that would leave no entry in the audit log (docs/design/audit.md U2). */
export const withoutAct: ReadonlyArray<string> = endpoints
  .filter(
    ({ annotations, method }) =>
      method !== "GET" &&
      policyOf({ annotations })?._tag === "Credential" &&
      Context.get(annotations, AuditedAs) === undefined
  )
  .map(({ method, path }) => `${method} ${path}`)
