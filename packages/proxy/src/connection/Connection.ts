/**
 * One connection, from ACCEPT to its end. The stages have the names of docs/design/proxy.md P12. Each either continues
 * or ends the connection with a `Refusal` (an error that the client can read) or a `Hangup` (no answer).
 *
 * The order is essential: ALLOW precedes every step that could reach a compute, and those steps take the `Admitted`
 * that it returns.
 *
 * Pitfall: sending an error too early. Before it has sent the startup packet a client does not understand an
 * ErrorResponse, so earlier failures close the connection without an answer.
 */
import type { Socket } from "node:net"
import type { EndpointId } from "@narthex/core"
import { Cause, Effect, Exit, Result } from "effect"
import type { Reported } from "../control-plane/ActivityReports.ts"
import { type Address, parsePeer } from "../networks/Address.ts"
import { count, countRelayed } from "../outcomes/AuditTrail.ts"
import {
  contradictoryEndpoints,
  cuts,
  disabledEndpoint,
  Hangup,
  noEndpoint,
  Refusal,
  reservedRole,
  tooMany,
  tooManyComputes,
  unavailable,
  unknownEndpoint,
  wakeTimedOut
} from "../outcomes/Refusal.ts"
import { encodeFatal } from "../wire/ErrorResponse.ts"
import { takeProxyHeader } from "../wire/ProxyHeader.ts"
import { encodeStartup, parameter, type Startup } from "../wire/startup.ts"
import { allow, refuseUnchecked, refuseUnlisted } from "./allow.ts"
import { forwardCancel } from "./CancelKeys.ts"
import type { Claims } from "./Claims.ts"
import type { Release } from "./Held.ts"
import { type Client, handshake, servernameOf } from "./handshake.ts"
import { close, OpeningConnection } from "./OpeningConnection.ts"
import { Relay } from "./Relay.ts"
import { asTwin, type NoRoute, route } from "./route.ts"
import type { SharedState } from "./SharedState.ts"

/**
 * Serves an accepted, paused socket until it is closed or its session is relayed. Never fails. `shared.connections`
 * counts the connection until it is closed. Its claims are closed with it.
 */
export const serveConnection = (shared: SharedState, socket: Socket, claims: Claims): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const client = new OpeningConnection(socket, () => fiber.interruptUnsafe())
    client.held.hold(shared.connections.add())
    client.held.hold(() => claims.close())
    shared.connections.openings.add(client)
    const beyond = shared.deadlines.begin(() => client.end(new Hangup({ event: "too_slow" })))
    const opening = Effect.suspend(() => {
      if (shared.connections.draining !== undefined) return shared.connections.draining
      return session(shared, client, claims, beyond)
    })
    return Effect.onExit(opening, (exit) => {
      beyond()
      shared.connections.openings.delete(client)
      return Exit.isSuccess(exit) ? Effect.void : refuse(client, exit.cause)
    })
  }).pipe(Effect.ignoreCause)

/** Ends a connection that was not relayed, with an answer if the client can read one. */
const refuse = (client: OpeningConnection, cause: Cause.Cause<Refusal | Hangup>): Effect.Effect<void> => {
  const failure = Result.getOrUndefined(Cause.findError(cause)) ?? client.ending
  if (failure instanceof Refusal && client.answerable) close(client, encodeFatal(failure))
  else client.held.release()
  if (failure !== undefined) return count(failure.event)
  // A defect ends this connection only. An interruption without a reason is the end of the process.
  if (!Cause.hasDies(cause)) return Effect.void
  return Effect.andThen(count("defect"), Effect.logError("a connection ended with a defect", cause))
}

const session = Effect.fnUntraced(function* (
  shared: SharedState,
  client: OpeningConnection,
  claims: Claims,
  beyond: Release
) {
  const peer = yield* accept(shared, client, claims)
  const opened = yield* handshake(client, shared.tls)
  beyond()
  if (opened._tag === "CancelRequest") return yield* cancel(shared, client, peer, opened.key, opened.packet)

  const left = () => new Hangup({ event: "client_left" })
  if (!client.reader.watch(() => client.end(left()))) return yield* left()
  const reached = yield* reach(shared, client, claims, peer, opened)
  // Decided while this fiber ran.
  if (client.ending !== undefined) return yield* client.ending
  relay(shared, client, claims, reached)
})

/** ACCEPT: the address of the peer, and the limits of its connections and attempts. */
const accept = Effect.fnUntraced(function* (shared: SharedState, client: OpeningConnection, claims: Claims) {
  const direct = parsePeer(client.socket.remoteAddress ?? "")
  if (direct === undefined) return yield* new Hangup({ event: "client_left" })
  const peer = shared.trusted(direct) ? yield* proxied(client, direct) : direct
  if (!(yield* claims.handshake(peer))) return yield* new Hangup({ event: "limit_handshakes" })
  yield* count("accepted")
  return peer
})

const proxied = Effect.fnUntraced(function* (client: Client, direct: Address) {
  const header = yield* client.reader.read(takeProxyHeader)
  if (header._tag === "Refused") return yield* new Hangup({ event: "proxy_header_refused" })
  return header._tag === "Local" ? direct : header.source
})

/** ROUTE, ALLOW, LIMIT, PLACE, WAKE and DIAL. */
const reach = Effect.fnUntraced(function* (
  shared: SharedState,
  client: OpeningConnection,
  claims: Claims,
  peer: Address,
  opened: Startup
) {
  const routed = route(opened, servernameOf(client.socket), shared.domain)
  if (Result.isFailure(routed)) return yield* unroutable(routed.failure)
  const { endpoint_id, startup } = routed.success
  const user = parameter(startup, "user") ?? ""
  const first = yield* locate(shared, endpoint_id, peer, user)
  const sent = first.endpoint.type === "read_only" ? asTwin(startup) : startup
  if (sent === undefined) return yield* reservedRole(user)

  const { known, waited } = yield* claims
    .enter({ endpoint_id, org_id: first.endpoint.org_id, peer, user })
    .pipe(Effect.catchTag("LimitReached", ({ what }) => tooMany(what)))
  const { admitted, asked_at, endpoint } = waited ? yield* locate(shared, endpoint_id, peer, user) : first

  const waker = { kind: known ? "known" : "stranger", mayWake: claims.mayWake } as const
  const { address, generation } = endpoint
  const compute = address === null || generation === null ? undefined : { address, generation }
  const located = { compute, asked_at }
  const reached = yield* shared.computes.reach(admitted, located, encodeStartup(sent), waker, client.held).pipe(
    Effect.catchTags({
      TooManyWakes: () => tooMany("wakes"),
      AddressNotListed: () => refuseUnlisted(shared, admitted, user),
      NotListed: () => refuseUnlisted(shared, admitted, user),
      RulesTooOld: () => refuseUnchecked(shared, admitted, user),
      RulesUnknown: () => refuseUnchecked(shared, admitted, user),
      EndpointUnknown: () => unknownEndpoint(endpoint_id),
      EndpointDisabled: () => disabledEndpoint(endpoint_id),
      TooManyComputes: () => tooManyComputes(),
      WakeTimedOut: () => wakeTimedOut(),
      ControlPlaneUnreachable: () => unavailable(),
      ComputeGone: () => wakeTimedOut()
    })
  )
  return { ...reached, asked_at }
})

/** Where the endpoint is, if it may be used: the part of ROUTE that asks the control plane, and ALLOW. */
const locate = Effect.fnUntraced(function* (shared: SharedState, endpoint_id: EndpointId, peer: Address, user: string) {
  const { asked_at, endpoint } = yield* shared.endpoints.resolve(endpoint_id).pipe(
    Effect.catchTags({
      EndpointUnknown: () => unknownEndpoint(endpoint_id),
      ControlPlaneUnreachable: () => unavailable()
    })
  )
  const admitted = yield* allow(shared, { endpoint_id, project_id: endpoint.project_id, peer }, user)
  if (endpoint.disabled) return yield* disabledEndpoint(endpoint_id)
  return { admitted, asked_at, endpoint }
})

const unroutable = ({ named, reason }: NoRoute): Refusal => {
  const [name = ""] = named
  if (reason === "none") return noEndpoint()
  if (reason === "malformed") return unknownEndpoint(name)
  return reason === "reserved" ? reservedRole(name) : contradictoryEndpoints(named)
}

/**
 * RELAY, until either side ends or the connection is cut. Takes over what the connection holds.
 *
 * Pitfall: a function that refers to what opened the connection. It lives as long as the session, and with it packets,
 * parameters and a fiber.
 */
const relay = (
  shared: SharedState,
  client: OpeningConnection,
  claims: Claims,
  { admitted, asked_at, compute, first, server }: Effect.Success<ReturnType<typeof reach>>
) => {
  const { held } = client
  const { endpoint_id, project_id } = admitted
  const { address, generation } = compute
  let reported: Reported | undefined
  const relay: Relay = new Relay({
    client: client.socket,
    server,
    fromClient: client.reader.detach(),
    fromServer: first,
    onCancelKey: (key) => void held.hold(shared.cancelKeys.add(key, { endpoint_id, project_id, address })),
    onAuthenticated: () => {
      claims.authenticated()
      reported = shared.activity.open(endpoint_id, generation, relay)
      held.hold(reported.close)
    },
    onBusy: () => reported?.busy(),
    now: shared.now
  })
  const cut = (why: Refusal) => () => relay.cut(encodeFatal(why))
  const { draining, relays } = shared.connections
  relays.add(relay)
  held.hold(() => void relays.delete(relay))
  held.hold(countRelayed(shared.context))
  // Watching begins before the first byte is relayed, so a change since the check cuts immediately.
  held.hold(shared.allowlists.watch(admitted, cut(cuts.rules)))
  const connected = { endpoint_id, generation, asked_at }
  held.hold(shared.endpoints.watch(connected, (why) => relay.cut(encodeFatal(cuts[why]))))
  claims.relayed(cut(cuts.authentication))
  if (draining !== undefined) relay.cutWhenIdle(encodeFatal(cuts.drain))
  client.forget()
  relay.start(() => held.release())
}

/**
 * CANCEL: passes the same allowlist as a connection and never wakes. The client gets no answer, whatever the outcome.
 */
const cancel = Effect.fnUntraced(function* (
  shared: SharedState,
  client: OpeningConnection,
  peer: Address,
  key: Buffer,
  packet: Buffer
) {
  const target = shared.cancelKeys.find(key) ?? (yield* shared.cancelTargetElsewhere(key))
  if (target === undefined) yield* count("cancel_unknown")
  else {
    const { endpoint_id, project_id } = target
    const admitted = yield* Effect.result(allow(shared, { endpoint_id, project_id, peer }, undefined))
    if (Result.isSuccess(admitted)) yield* forwardCancel(admitted.success, target, packet)
    yield* count(Result.isSuccess(admitted) ? "cancel_forwarded" : "cancel_refused")
  }
  close(client, undefined)
})
