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
import { Clock, Deferred, Effect, Metric, Result } from "effect"
import type { Reported } from "../control-plane/ActivityReports.ts"
import { type Address, neighbourhood, parsePeer } from "../networks/Address.ts"
import { count, relayed } from "../outcomes/AuditTrail.ts"
import {
  contradictoryEndpoints,
  cuts,
  disabledEndpoint,
  Hangup,
  noEndpoint,
  type Refusal,
  reservedRole,
  restarting,
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
import { type CancelTarget, forwardCancel } from "./CancelKeys.ts"
import type { Waker } from "./Computes.ts"
import type { Release } from "./ConnectionLimiter.ts"
import { type Client, handshake, servernameOf } from "./handshake.ts"
import { Relay } from "./Relay.ts"
import { asTwin, type NoRoute, route } from "./route.ts"
import type { SharedState } from "./SharedState.ts"
import { SocketReader } from "./SocketReader.ts"

const timeouts = { handshake: "10 seconds", close: "1 second" } as const

/** Serves an accepted, paused socket until it is closed. Never fails. */
export const serveConnection = Effect.fnUntraced(function* (shared: SharedState, socket: Socket) {
  const client: Client = { socket, reader: new SocketReader(socket), answerable: false }
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      client.socket.destroy()
      socket.destroy()
    })
  )
  yield* session(shared, client).pipe(
    Effect.catchTags({
      Refusal: (refusal) =>
        Effect.andThen(count(refusal.event), client.answerable ? close(client, encodeFatal(refusal)) : Effect.void),
      Hangup: (hangup) => count(hangup.event)
    }),
    // A defect ends this connection only.
    Effect.catchDefect((defect) =>
      Effect.andThen(count("defect"), Effect.logError("a connection ended with a defect", defect))
    )
  )
}, Effect.scoped)

const session = Effect.fnUntraced(function* (shared: SharedState, client: Client) {
  const opening = accept(shared, client).pipe(
    Effect.flatMap(({ releaseHandshake, peer }) =>
      Effect.map(handshake(client, shared.tls), (opened) => ({ releaseHandshake, opened, peer }))
    ),
    Effect.timeoutOrElse({ duration: timeouts.handshake, orElse: () => new Hangup({ event: "too_slow" }) })
  )
  const drained = Effect.flatMap(Deferred.await(shared.draining), () => restarting())
  const { releaseHandshake, opened, peer } = yield* Effect.raceFirst(opening, drained)
  if (opened._tag === "CancelRequest") return yield* cancel(shared, client, peer, opened.key, opened.packet)

  const reached = yield* Effect.raceFirst(
    Effect.raceFirst(reach(shared, client, peer, opened), client.reader.gone),
    drained
  )
  releaseHandshake()
  yield* relay(shared, client, reached)
})

/** ACCEPT: the address of the peer, and the limits of connections and attempts. */
const accept = Effect.fnUntraced(function* (shared: SharedState, client: Client) {
  const clock = yield* Clock.Clock
  const direct = parsePeer(client.socket.remoteAddress ?? "")
  if (direct === undefined) return yield* new Hangup({ event: "client_left" })
  yield* keep(shared.limits.connection(), "limit_connections")
  const peer = shared.trusted(direct) ? yield* proxied(client, direct) : direct
  const releaseHandshake = yield* keep(
    shared.limits.handshake(peer, clock.currentTimeMillisUnsafe()),
    "limit_handshakes"
  )
  yield* count("accepted")
  return { peer, releaseHandshake }
})

const proxied = Effect.fnUntraced(function* (client: Client, direct: Address) {
  const header = yield* client.reader.read(takeProxyHeader)
  if (header._tag === "Refused") return yield* new Hangup({ event: "proxy_header_refused" })
  return header._tag === "Local" ? direct : header.source
})

/** Holds a slot until the connection ends or the returned release is called. */
const keep = Effect.fnUntraced(function* (slot: Release | undefined, event: string) {
  if (slot === undefined) return yield* new Hangup({ event })
  let held = true
  const release = () => {
    if (held) slot()
    held = false
  }
  yield* Effect.addFinalizer(() => Effect.sync(release))
  return release
})

/** ROUTE, ALLOW, LIMIT, PLACE, WAKE and DIAL. */
const reach = Effect.fnUntraced(function* (shared: SharedState, client: Client, peer: Address, opened: Startup) {
  const routed = route(opened, servernameOf(client.socket), shared.domain)
  if (Result.isFailure(routed)) return yield* unroutable(routed.failure)
  const { endpoint_id, startup } = routed.success
  const user = parameter(startup, "user") ?? ""
  const first = yield* locate(shared, endpoint_id, peer, user)
  const sent = first.endpoint.type === "read_only" ? asTwin(startup) : startup
  if (sent === undefined) return yield* reservedRole(user)

  const clock = yield* Clock.Clock
  if (!shared.limits.attempt(endpoint_id, clock.currentTimeMillisUnsafe())) return yield* tooMany("attempts")
  const place = yield* shared.gate
    .enter({ endpoint_id, address: neighbour(peer), user })
    .pipe(Effect.catchTag("NoPlace", () => tooMany("unauthenticated")))
  const { admitted, asked_at, endpoint } = place.waited ? yield* locate(shared, endpoint_id, peer, user) : first
  yield* limited(endpoint.org_id === undefined ? none : shared.limits.organization(endpoint.org_id), "organization")
  yield* limited(shared.limits.endpoint(endpoint_id), "connections")

  const network = `${endpoint_id} ${neighbourhood(peer)}`
  let wakes = place.known
  const waker: Waker = {
    kind: place.known ? "known" : "stranger",
    // A client that wakes again, because the compute is gone, counts once.
    mayWake: () => {
      wakes ||= shared.wakes.take(network, shared.now())
      return wakes
    }
  }
  const { address, generation } = endpoint
  const compute = address === null || generation === null ? undefined : { address, generation }
  const reached = yield* shared.computes.reach(admitted, { compute, asked_at }, encodeStartup(sent), waker).pipe(
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
  const onAuthenticated = () => {
    place.authenticated()
    shared.wakes.clear(network)
  }
  return { ...reached, place, onAuthenticated }
})

/** Where the endpoint is, if it may be used: the part of ROUTE that asks the control plane, and ALLOW. */
const locate = Effect.fnUntraced(function* (shared: SharedState, endpoint_id: EndpointId, peer: Address, user: string) {
  const asked_at = shared.now()
  const endpoint = yield* shared.endpoints.resolve(endpoint_id).pipe(
    Effect.catchTags({
      EndpointUnknown: () => unknownEndpoint(endpoint_id),
      ControlPlaneUnreachable: () => unavailable()
    })
  )
  const admitted = yield* allow(shared, { endpoint_id, project_id: endpoint.project_id, peer }, user)
  if (endpoint.disabled) return yield* disabledEndpoint(endpoint_id)
  return { admitted, asked_at, endpoint }
})

/** What counts as one address for places: an IPv6 client has a whole /64. */
const neighbour = (peer: Address) => (peer.family === 4 ? peer.text : neighbourhood(peer))

const none: Release = () => {}

const limited = (slot: Release | undefined, what: "connections" | "organization") =>
  slot === undefined ? tooMany(what) : keep(slot, `limit_${what}`)

const unroutable = ({ named, reason }: NoRoute): Refusal => {
  const [name = ""] = named
  if (reason === "none") return noEndpoint()
  if (reason === "malformed") return unknownEndpoint(name)
  return reason === "reserved" ? reservedRole(name) : contradictoryEndpoints(named)
}

/** RELAY, until either side ends or the connection is cut. */
const relay = Effect.fnUntraced(function* (
  shared: SharedState,
  client: Client,
  { admitted, compute, first, onAuthenticated, place, socket }: Effect.Success<ReturnType<typeof reach>>
) {
  const { endpoint_id, project_id } = admitted
  let removeKey = () => {}
  let reported: Reported | undefined
  const relay: Relay = new Relay({
    client: client.socket,
    server: socket,
    fromClient: client.reader.detach(),
    fromServer: first,
    onCancelKey: (key) => {
      removeKey = shared.cancelKeys.add(key, { endpoint_id, project_id, address: compute.address })
    },
    onAuthenticated: () => {
      onAuthenticated()
      reported = shared.activity.open(endpoint_id, compute.generation, relay)
    },
    onBusy: () => reported?.busy(),
    now: shared.now
  })
  const cut = (why: Refusal) => () => relay.cut(encodeFatal(why))
  yield* Metric.modify(relayed, 1)
  shared.relays.add(relay)
  // Watching begins before the first byte is relayed, so a change since the check cuts immediately.
  const unwatch = [
    shared.allowlists.watch(admitted, cut(cuts.rules)),
    shared.endpoints.watch(endpoint_id, (why) => relay.cut(encodeFatal(cuts[why])))
  ]
  place.begin(() => {
    relay.cut(encodeFatal(cuts.authentication))
    place.release()
  })
  if (Deferred.isDoneUnsafe(shared.draining)) relay.cutWhenIdle(encodeFatal(cuts.drain))
  yield* Effect.ensuring(
    relay.run,
    Effect.suspend(() => {
      for (const stop of unwatch) stop()
      removeKey()
      reported?.close()
      shared.relays.delete(relay)
      return Metric.modify(relayed, -1)
    })
  )
})

/**
 * CANCEL: passes the same allowlist as a connection and never wakes. The client gets no answer, whatever the outcome.
 */
const cancel = Effect.fnUntraced(function* (
  shared: SharedState,
  client: Client,
  peer: Address,
  key: Buffer,
  packet: Buffer
) {
  const target: CancelTarget | undefined = shared.cancelKeys.find(key)
  if (target === undefined) yield* count("cancel_unknown")
  else {
    const { endpoint_id, project_id } = target
    const admitted = yield* Effect.result(allow(shared, { endpoint_id, project_id, peer }, undefined))
    if (Result.isSuccess(admitted)) yield* forwardCancel(admitted.success, target, packet)
    yield* count(Result.isSuccess(admitted) ? "cancel_forwarded" : "cancel_refused")
  }
  yield* close(client, undefined)
})

/** Sends the last bytes and waits for the client to close: closing with unread bytes would send a reset instead. */
const close = (client: Client, last: Buffer | undefined): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const { socket } = client
    client.reader.detach()
    if (socket.destroyed) return resume(Effect.void)
    socket.once("close", () => resume(Effect.void))
    socket.on("data", () => {}).resume()
    if (last !== undefined) socket.write(last)
    socket.end()
  }).pipe(Effect.timeoutOption(timeouts.close), Effect.asVoid)
