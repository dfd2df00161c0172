/** LIMIT, WAKE, DIAL and LOG IN, and then RELAY: what a client gets that may have a session. */
import type { ResolvedEndpoint } from "@narthex/api"
import { Exit } from "effect"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { ReachError, Reached } from "../compute/Computes.ts"
import type { Login } from "../compute/dial.ts"
import {
  disabledEndpoint,
  type Refusal,
  type ServerError,
  tooMany,
  tooManyComputes,
  unavailable,
  unknownEndpoint,
  wakeTimedOut,
  wrongPassword
} from "../outcomes/Refusal.ts"
import { sqlstateOf } from "../wire/ErrorResponse.ts"
import { refuse, refuseUnlisted } from "./allow.ts"
import { type Allowed, type Asker, failed } from "./locate.ts"
import type { OpeningConnection } from "./OpeningConnection.ts"
import { beginSession } from "./Session.ts"

/** LIMIT. */
export const entered = (client: OpeningConnection, { endpoint_id }: Asker, { org_id }: ResolvedEndpoint): boolean => {
  const limit = client.slots.enter(endpoint_id, org_id)
  if (limit !== undefined) client.end(tooMany(limit))
  return limit === undefined
}

/** WAKE, DIAL and LOG IN, and then RELAY. */
export const openSession = (
  client: OpeningConnection,
  asker: Asker,
  { admitted, located }: Allowed,
  login: () => Login
): void => {
  const { computes, metrics, now } = client.shared
  const { asked_at, endpoint } = located
  client.wait<Exit.Exit<Reached, ReachError>>(
    (done) => computes.reach(admitted, { compute: runningOf(endpoint), asked_at }, login, client, done),
    (reached) => {
      if (Exit.isFailure(reached)) return failed(client, reached, (why) => unreached(client, asker, admitted, why))
      metrics.opened(now() - asker.since, reached.value.woken)
      beginSession(client, reached.value, asked_at)
    }
  )
}

const runningOf = ({ address, generation, tls = null }: ResolvedEndpoint) =>
  address === null || generation === null ? undefined : { address, generation, tls }

const unreached = (
  { shared }: OpeningConnection,
  { role, user }: Asker,
  admitted: Admitted,
  why: ReachError
): Refusal | ServerError => {
  switch (why._tag) {
    case "Refusal":
      return why
    case "ServerError":
      return role === undefined ? why : answerOf(why, user)
    case "AddressNotListed":
      return refuseUnlisted(shared, admitted, user)
    case "NotListed":
    case "RulesTooOld":
    case "RulesUnknown":
      return refuse(shared, admitted, user, why)
    case "EndpointUnknown":
      return unknownEndpoint(admitted.endpoint_id)
    case "EndpointDisabled":
      return disabledEndpoint(admitted.endpoint_id)
    case "TooManyComputes":
      return tooManyComputes()
    case "ControlPlaneUnreachable":
      return unavailable()
    case "WakeTimedOut":
    case "ComputeGone":
      return wakeTimedOut()
  }
}

/** The answer to a client about an error of its compute, without a trace of the twin that the proxy logs in with. */
const answerOf = (error: ServerError, user: string): Refusal | ServerError =>
  sqlstateOf(error.bytes) === "28P01" ? wrongPassword(user) : error
