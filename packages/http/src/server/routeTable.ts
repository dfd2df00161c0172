/**
 * Which methods a path has, so that a wrong one is 405 with `Allow` and not 404; and the check that no endpoint is
 * without its policy. Made from the contract once, at start.
 */
import { Api, policyOf } from "@narthex/api"

const endpoints = Object.values(Api.groups).flatMap((group) => Object.values(group.endpoints))

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/:\w+/g, "[^/]+")}$`)

const routes = [
  ...endpoints.map(({ method, path }) => ({ method: String(method), path: String(path) })),
  ...["/openapi.json", "/docs"].map((path) => ({ method: "GET", path }))
]

/** `/v1/<word>` and how long the path is: this is asked on every request, so it tries a few patterns and not all. */
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

/** The methods that a path has; empty when there is no such path. */
export const allowedMethods = (path: string): ReadonlyArray<string> => {
  const [first, ...others] = (buckets.get(bucketOf(path)) ?? []).filter(({ pattern }) => pattern.test(path))
  if (first === undefined) return []
  return others.length === 0 ? first.methods : sorted([first, ...others].flatMap(({ methods }) => methods))
}

/** Endpoints without exactly one policy. The server does not start while there is one. */
export const withoutPolicy: ReadonlyArray<string> = endpoints
  .filter((endpoint) => policyOf(endpoint) === undefined)
  .map(({ method, path }) => `${method} ${path}`)
