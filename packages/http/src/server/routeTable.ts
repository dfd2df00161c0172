/**
 * Which methods a path has, so that a wrong one is 405 with `Allow` and not 404; and the check that no endpoint is
 * without its policy. Made from the contract once, at start.
 */
import { Api, policyOf } from "@narthex/api"

interface Row {
  readonly pattern: RegExp
  readonly method: string
}

const endpoints = Object.values(Api.groups).flatMap((group) => Object.values(group.endpoints))

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/:\w+/g, "[^/]+")}$`)

const rows: ReadonlyArray<Row> = [
  ...endpoints.map(({ method, path }) => ({ method, pattern: patternOf(path) })),
  ...["/openapi.json", "/docs"].map((path) => ({ method: "GET", pattern: patternOf(path) }))
]

/** The methods that a path has; empty when there is no such path. */
export const allowedMethods = (path: string): ReadonlyArray<string> => {
  const methods = rows.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  return [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)].toSorted()
}

/** Endpoints without exactly one policy. The server does not start while there is one. */
export const withoutPolicy: ReadonlyArray<string> = endpoints
  .filter((endpoint) => policyOf(endpoint) === undefined)
  .map(({ method, path }) => `${method} ${path}`)
