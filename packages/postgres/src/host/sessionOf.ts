/** Which driver a host's handle belongs to. It is recognised by its form, because no driver is a dependency. */
import { Predicate } from "effect"
import type { HostSession } from "./HostSession.ts"
import { type NodePostgresClient, nodePostgres } from "./nodePostgres.ts"
import { type PostgresJsHandle, postgresJs } from "./postgresJs.ts"

/** A transaction, or the database itself, of Drizzle. */
const clientOfDrizzle = (handle: object): unknown => {
  const inner = Predicate.hasProperty(handle, "_") ? handle._ : undefined
  const session = Predicate.hasProperty(inner, "session") ? inner.session : undefined
  return Predicate.hasProperty(session, "client") ? session.client : undefined
}

const isPostgresJs = (handle: unknown): handle is PostgresJsHandle =>
  Predicate.isFunction(handle) &&
  Predicate.hasProperty(handle, "unsafe") &&
  Predicate.isFunction(handle.unsafe) &&
  Predicate.hasProperty(handle, "typed")

const isNodePostgres = (handle: unknown): handle is NodePostgresClient =>
  Predicate.isObject(handle) &&
  Predicate.hasProperty(handle, "query") &&
  Predicate.isFunction(handle.query) &&
  Predicate.hasProperty(handle, "getTypeParser")

/** A pool of node-postgres: each statement of it may run on another connection. */
const isPool = (handle: unknown): boolean =>
  Predicate.isObject(handle) &&
  Predicate.hasProperty(handle, "totalCount") &&
  Predicate.hasProperty(handle, "idleCount")

/** `pool`: many connections, of which none is in a transaction. `undefined`: of no driver that is known. */
export const sessionOf = (handle: object): HostSession | "pool" | undefined => {
  const client = clientOfDrizzle(handle) ?? handle
  if (isPool(client)) return "pool"
  if (isPostgresJs(client)) return postgresJs(client)
  return isNodePostgres(client) ? nodePostgres(client) : undefined
}
