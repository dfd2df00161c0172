/**
 * One connection, from ACCEPT to RELAY. The stages have the names of docs/design/proxy.md P12. Each either continues
 * or ends the connection with a `Refusal` (an error that the client can read) or a `Hangup` (no answer).
 *
 * The order is essential. ALLOW precedes every step that could reach a compute, and those steps take the `Admitted` that it
 * returns. AUTHENTICATE precedes every step that a stranger must not cause: a wake, a connection to a compute, a place among the
 * connections of the endpoint.
 *
 * Pitfall: sending an error too early. Before it has sent the startup packet a client does not understand an
 * ErrorResponse, so earlier failures close the connection without an answer.
 */
import type { Socket } from "node:net"
import { isRoleName } from "@narthex/core"
import { Result } from "effect"
import type { HeldSlots } from "../limits/ConnectionLimiter.ts"
import { type Address, parsePeer } from "../networks/Address.ts"
import { countIn } from "../outcomes/AuditTrail.ts"
import {
  contradictoryEndpoints,
  Hangup,
  noEndpoint,
  otherRegion,
  type Refusal,
  reservedRole,
  unavailable,
  unknownEndpoint
} from "../outcomes/Refusal.ts"
import { negotiateProtocolVersion, newestMinor } from "../wire/messages.ts"
import { takeProxyHeader } from "../wire/ProxyHeader.ts"
import type { Startup } from "../wire/startup.ts"
import { cancel } from "./cancel.ts"
import { handshake, read, servernameOf } from "./handshake.ts"
import { type Asker, admit, find } from "./locate.ts"
import { OpeningConnection } from "./OpeningConnection.ts"
import { proveRole } from "./proveRole.ts"
import { relayOwnRole } from "./relayOwnRole.ts"
import { type NoRoute, protocolOptions, route } from "./route.ts"
import type { SharedState } from "./SharedState.ts"

/**
 * Serves an accepted, paused socket. `shared.connections` counts the connection until it is closed. Its slots are closed
 * with it. `behalf`: the address of the client for which this process itself has connected.
 */
export const serveConnection = (shared: SharedState, socket: Socket, slots: HeldSlots, behalf?: string) => {
  const client = new OpeningConnection(shared, socket, slots)
  const { draining } = shared.connections
  if (draining !== undefined) return client.end(draining)
  return accept(client, behalf, (peer) =>
    handshake(client, shared.tls, (request) =>
      request._tag === "CancelRequest" ? cancel(client, peer, request.key) : reach(client, peer, request)
    )
  )
}

const left = new Hangup({ event: "client_left" })

/** ACCEPT: the address of the peer, and the limits of its connections and attempts. */
const accept = (client: OpeningConnection, behalf: string | undefined, then: (peer: Address) => void) => {
  const { slots, shared, socket } = client
  const direct = parsePeer(behalf ?? socket.remoteAddress ?? "")
  if (direct === undefined) return client.end(left)
  const counted = (peer: Address) => {
    if (!slots.handshake(peer, client.drop)) return client.end(new Hangup({ event: "limit_handshakes" }))
    countIn(shared.context, "accepted")
    return then(peer)
  }
  if (behalf !== undefined || !shared.trusted(direct)) return counted(direct)
  return read(client, takeProxyHeader, (header) => {
    if (header._tag === "Refused") return client.end(new Hangup({ event: "proxy_header_refused" }))
    return counted(header._tag === "Local" ? direct : header.source)
  })
}

/** ROUTE and the later stages. */
const reach = (client: OpeningConnection, peer: Address, opened: Startup) => {
  const routed = route(opened, servernameOf(client.socket), client.shared.domain)
  if (Result.isFailure(routed)) return client.end(unroutable(routed.failure))
  const { endpoint_id, role: user, startup } = routed.success
  const since = client.shared.now()
  const asker: Asker = { endpoint_id, role: isRoleName(user) ? user : undefined, peer, since, user, startup }
  // Before the request for a proof, a delay is the control plane's and not the client's.
  client.late = unavailable()
  if (!client.watch()) return
  negotiate(client, startup)
  return find(client, asker, (located) =>
    admit(client, asker, located, (allowed) => {
      const { domain, region } = client.shared
      const { region_id } = located.endpoint
      if (region !== undefined && region_id !== region) return client.end(otherRegion(endpoint_id, region_id, domain))
      if (asker.role !== undefined) return proveRole(client, asker, allowed, located.verifier)
      return located.endpoint.own_roles === true ? relayOwnRole(client, asker) : client.end(reservedRole(user))
    })
  )
}

/** Answers a client that asks for more of the protocol than this proxy speaks. */
const negotiate = (client: OpeningConnection, startup: Startup): void => {
  const options = protocolOptions(startup)
  const minor = startup.version & 0xffff
  if (minor > newestMinor || options.length > 0) client.socket.write(negotiateProtocolVersion(options))
}

const unroutable = ({ named, reason }: NoRoute): Refusal => {
  const [name = ""] = named
  if (reason === "none") return noEndpoint()
  return reason === "malformed" ? unknownEndpoint(name) : contradictoryEndpoints(named)
}
