/**
 * One connection, from ACCEPT to RELAY. The stages have the names of docs/design/proxy.md P12. Each either continues
 * or ends the connection with a `Refusal` (an error that the client can read) or a `Hangup` (no answer).
 *
 * The order is essential: ALLOW precedes every step that could reach a compute, and those steps take the `Admitted`
 * that it returns.
 *
 * Pitfall: sending an error too early. Before it has sent the startup packet a client does not understand an
 * ErrorResponse, so earlier failures close the connection without an answer.
 */
import type { Socket } from "node:net"
import type { ResolvedEndpoint } from "@narthex/api"
import type { EndpointId } from "@narthex/core"
import { Cause, Exit, Result } from "effect"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { Located as Resolved, ResolveError } from "../control-plane/EndpointCache.ts"
import { failureOf } from "../control-plane/Run.ts"
import { type Address, parsePeer } from "../networks/Address.ts"
import { countIn } from "../outcomes/AuditTrail.ts"
import {
  contradictoryEndpoints,
  disabledEndpoint,
  Hangup,
  noEndpoint,
  type Refusal,
  reservedRole,
  tooMany,
  tooManyComputes,
  unavailable,
  unknownEndpoint,
  wakeTimedOut
} from "../outcomes/Refusal.ts"
import { takeProxyHeader } from "../wire/ProxyHeader.ts"
import { encodeStartup, parameter, type Startup } from "../wire/startup.ts"
import { allow, type NotAllowed, refuse, refuseUnlisted } from "./allow.ts"
import { type CancelTarget, forwardCancel } from "./CancelKeys.ts"
import type { Claims, Entered, Limit } from "./Claims.ts"
import type { ReachError, Reached } from "./Computes.ts"
import { handshake, read, servernameOf } from "./handshake.ts"
import { OpeningConnection } from "./OpeningConnection.ts"
import { asTwin, type NoRoute, route } from "./route.ts"
import { beginSession } from "./Session.ts"
import type { SharedState } from "./SharedState.ts"

/** A client that has named its endpoint. */
interface Asker {
  readonly endpoint_id: EndpointId
  readonly peer: Address
  readonly user: string
  /** What the compute gets. */
  readonly startup: Startup
}

/** Where the endpoint is, to a client that may use it. */
interface Located {
  readonly admitted: Admitted
  readonly asked_at: number
  readonly endpoint: ResolvedEndpoint
}

/**
 * Serves an accepted, paused socket. `shared.connections` counts the connection until it is closed. Its claims are closed
 * with it.
 */
export const serveConnection = (shared: SharedState, socket: Socket, claims: Claims) => {
  const client = new OpeningConnection(shared, socket, claims, late)
  const { draining } = shared.connections
  if (draining !== undefined) return client.end(draining)
  return accept(client, (peer) =>
    handshake(client, shared.tls, (request) => {
      client.begun()
      if (request._tag === "CancelRequest") return cancel(client, peer, request.key, request.packet)
      if (!client.reader.watch(() => client.end(left))) return client.end(left)
      return reach(client, peer, request)
    })
  )
}

const [left, late] = [new Hangup({ event: "client_left" }), new Hangup({ event: "too_slow" })]

/** ACCEPT: the address of the peer, and the limits of its connections and attempts. */
const accept = (client: OpeningConnection, then: (peer: Address) => void) => {
  const { claims, shared, socket } = client
  const direct = parsePeer(socket.remoteAddress ?? "")
  if (direct === undefined) return client.end(left)
  const counted = (peer: Address) =>
    client.wait<boolean>(
      (done) => claims.handshake(peer, done),
      (within) => {
        if (!within) return client.end(new Hangup({ event: "limit_handshakes" }))
        countIn(shared.context, "accepted")
        return then(peer)
      }
    )
  if (!shared.trusted(direct)) return counted(direct)
  return read(client, takeProxyHeader, (header) => {
    if (header._tag === "Refused") return client.end(new Hangup({ event: "proxy_header_refused" }))
    return counted(header._tag === "Local" ? direct : header.source)
  })
}

/** ROUTE, ALLOW, LIMIT, PLACE, WAKE and DIAL, and then RELAY. */
const reach = (client: OpeningConnection, peer: Address, opened: Startup) => {
  const routed = route(opened, servernameOf(client.socket), client.shared.domain)
  if (Result.isFailure(routed)) return client.end(unroutable(routed.failure))
  const { endpoint_id, startup } = routed.success
  const asker: Asker = { endpoint_id, peer, user: parameter(startup, "user") ?? "", startup }
  return locate(client, asker, (first) => {
    const sent = first.endpoint.type === "read_only" ? asTwin(startup) : startup
    if (sent === undefined) return client.end(reservedRole(asker.user))
    return enter(client, asker, first, (entered) => {
      const dial = (located: Located) => wakeAndDial(client, asker, located, encodeStartup(sent), entered)
      return entered.waited ? locate(client, asker, dial) : dial(first)
    })
  })
}

/** The part of ROUTE that asks the control plane, and ALLOW. */
const locate = (client: OpeningConnection, asker: Asker, then: (located: Located) => void) => {
  const { shared } = client
  const { endpoint_id, peer, user } = asker
  client.wait<Exit.Exit<Resolved, ResolveError>>(
    (done) => shared.endpoints.resolve(endpoint_id, done),
    (resolved) => {
      if (Exit.isFailure(resolved))
        return failed(client, resolved, ({ _tag }) =>
          _tag === "EndpointUnknown" ? unknownEndpoint(endpoint_id) : unavailable()
        )
      const { asked_at, endpoint } = resolved.value
      const candidate = { endpoint_id, project_id: endpoint.project_id, peer }
      return client.wait<Exit.Exit<Admitted, NotAllowed>>(
        (done) => allow(shared, candidate, done),
        (allowed) => {
          if (Exit.isFailure(allowed)) return failed(client, allowed, (why) => refuse(shared, candidate, user, why))
          if (endpoint.disabled) return client.end(disabledEndpoint(endpoint_id))
          return then({ admitted: allowed.value, asked_at, endpoint })
        }
      )
    }
  )
}

/** LIMIT and PLACE. */
const enter = (
  client: OpeningConnection,
  { endpoint_id, peer, user }: Asker,
  { endpoint: { org_id } }: Located,
  then: (entered: Entered) => void
): void =>
  client.wait<Entered | Limit>(
    (done) => client.claims.enter({ endpoint_id, org_id, peer, user }, done),
    (entered) => (typeof entered === "string" ? client.end(tooMany(entered)) : then(entered))
  )

/** WAKE and DIAL, and then RELAY. */
const wakeAndDial = (
  client: OpeningConnection,
  asker: Asker,
  { admitted, asked_at, endpoint: { address, generation } }: Located,
  packet: Buffer,
  { known }: Entered
): void => {
  const { claims, shared } = client
  const located = { compute: address === null || generation === null ? undefined : { address, generation }, asked_at }
  const waker = { kind: known ? "known" : "stranger", mayWake: claims.mayWake.bind(claims) } as const
  client.wait<Exit.Exit<Reached, ReachError>>(
    (done) => shared.computes.reach(admitted, located, packet, waker, client, done),
    (reached) =>
      Exit.isSuccess(reached)
        ? beginSession(client, reached.value, asked_at)
        : failed(client, reached, (why) => unreached(client, asker, admitted, why))
  )
}

const unreached = ({ shared }: OpeningConnection, { user }: Asker, admitted: Admitted, why: ReachError): Refusal => {
  switch (why._tag) {
    case "TooManyWakes":
      return tooMany("wakes")
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

/** Ends a connection by what failed. An interruption is the end of the process. */
const failed = <E>(
  client: OpeningConnection,
  exit: Exit.Failure<unknown, E>,
  refusalOf: (error: E) => Refusal
): void => {
  const error = failureOf(exit)
  if (error !== undefined) client.end(refusalOf(error))
  else if (Cause.hasDies(exit.cause)) client.defect(Cause.squash(exit.cause))
  else client.abandon()
}

const unroutable = ({ named, reason }: NoRoute): Refusal => {
  const [name = ""] = named
  if (reason === "none") return noEndpoint()
  if (reason === "malformed") return unknownEndpoint(name)
  return reason === "reserved" ? reservedRole(name) : contradictoryEndpoints(named)
}

/**
 * CANCEL: passes the same allowlist as a connection and never wakes. The client gets no answer, whatever the outcome.
 */
const cancel = (client: OpeningConnection, peer: Address, key: Buffer, packet: Buffer) => {
  const { shared } = client
  const over = (event: string) => {
    countIn(shared.context, event)
    client.leave()
  }
  const found = (target: CancelTarget | undefined) => {
    if (target === undefined) return over("cancel_unknown")
    const { endpoint_id, project_id } = target
    const candidate = { endpoint_id, project_id, peer }
    return client.wait<Exit.Exit<Admitted, NotAllowed>>(
      (done) => allow(shared, candidate, done),
      (allowed) => {
        if (Exit.isSuccess(allowed))
          return client.wait<undefined>(
            (done) => forwardCancel(allowed.value, target, packet, done),
            () => over("cancel_forwarded")
          )
        const why = failureOf(allowed)
        if (why === undefined) return failed(client, allowed, unavailable)
        refuse(shared, candidate, undefined, why)
        return over("cancel_refused")
      }
    )
  }
  const known = shared.cancelKeys.find(key)
  if (known !== undefined) return found(known)
  return client.wait<Exit.Exit<CancelTarget | undefined>>(
    (done) => shared.run(shared.cancelTargetElsewhere(key), done),
    (target) => (Exit.isSuccess(target) ? found(target.value) : client.abandon())
  )
}
