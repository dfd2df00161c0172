/**
 * RESOLVE and ALLOW: before the client's proof by cached answers, after it by a fresh answer of the control plane.
 */
import { networkOf } from "@narthex/core"
import { Cause, Exit } from "effect"
import type { Admitted, Candidate } from "../allowlist/checkAllowlist.ts"
import type { Located, Named, ResolveError, TooManyMisses } from "../control-plane/EndpointCache.ts"
import { failureOf } from "../control-plane/Run.ts"
import type { Address } from "../networks/Address.ts"
import {
  disabledEndpoint,
  type Refusal,
  type ServerError,
  tooMany,
  unavailable,
  unknownEndpoint
} from "../outcomes/Refusal.ts"
import type { Startup } from "../wire/startup.ts"
import { allow, type NotAllowed, refuse } from "./allow.ts"
import type { OpeningConnection } from "./OpeningConnection.ts"

/** A client that has named its endpoint and its role. */
export interface Asker extends Named {
  readonly peer: Address
  /** When it began to ask, in milliseconds of the monotonic clock. */
  readonly since: number
  /** The user name as it was sent, in latin1. `Named.role` is set only for the form of a minted role. */
  readonly user: string
  readonly startup: Startup
}

/** A client that may reach its endpoint, and what the control plane said last. */
export interface Allowed {
  readonly admitted: Admitted
  readonly located: Located
}

/** The part of ROUTE that may ask the control plane, on behalf of a client that has proved nothing. */
export const find = (client: OpeningConnection, asker: Asker, then: (located: Located) => void) => {
  const { endpoints } = client.shared
  const known = endpoints.known(asker)
  if (known !== undefined) return then(known)
  return client.wait<Exit.Exit<Located, ResolveError | TooManyMisses>>(
    (done) => endpoints.lookUp(asker, networkOf(asker.peer.text), done),
    (found) =>
      Exit.isSuccess(found) ? then(found.value) : failed(client, found, (why) => notFound(asker.endpoint_id, why))
  )
}

export const notFound = (endpoint_id: string, { _tag }: ResolveError | TooManyMisses): Refusal => {
  if (_tag === "TooManyMisses") return tooMany("misses")
  return _tag === "EndpointUnknown" ? unknownEndpoint(endpoint_id) : unavailable()
}

/** ALLOW. */
export const admit = (
  client: OpeningConnection,
  { endpoint_id, peer, user }: Asker,
  located: Located,
  then: (allowed: Allowed) => void
): void => {
  const { shared } = client
  const candidate: Candidate = { endpoint_id, project_id: located.endpoint.project_id, peer }
  client.wait<Exit.Exit<Admitted, NotAllowed>>(
    (done) => allow(shared, candidate, done),
    (allowed) =>
      Exit.isSuccess(allowed)
        ? then({ admitted: allowed.value, located })
        : failed(client, allowed, (why) => refuse(shared, candidate, user, why))
  )
}

/** How long an answer to this connection is taken for that of now, in milliseconds. */
const fresh = 1_000

/**
 * Resolves the endpoint again unless the answer is fresh, and repeats ALLOW. A disabled endpoint ends the connection.
 *
 * Pitfall: taking the answer to another connection, however young. A role that was revoked in between would be let in.
 */
export const renew = (client: OpeningConnection, asker: Asker, before: Allowed, then: (allowed: Allowed) => void) => {
  const { endpoints, now } = client.shared
  const enabled = (allowed: Allowed) =>
    allowed.located.endpoint.disabled ? client.end(disabledEndpoint(asker.endpoint_id)) : then(allowed)
  const { asked_at } = before.located
  if (asked_at >= asker.since && now() - asked_at < fresh) return enabled(before)
  return client.wait<Exit.Exit<Located, ResolveError>>(
    (done) => endpoints.resolve(asker, done),
    (found) =>
      Exit.isSuccess(found)
        ? admit(client, asker, found.value, enabled)
        : failed(client, found, (why) => notFound(asker.endpoint_id, why))
  )
}

/** Ends a connection by what failed. An interruption is the end of the process. */
export const failed = <E>(
  client: OpeningConnection,
  exit: Exit.Failure<unknown, E>,
  refusalOf: (error: E) => Refusal | ServerError
): void => {
  const error = failureOf(exit)
  if (error !== undefined) client.end(refusalOf(error))
  else if (Cause.hasDies(exit.cause)) client.defect(Cause.squash(exit.cause))
  else client.abandon()
}
