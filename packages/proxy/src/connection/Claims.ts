/**
 * What a connection takes of the limits of its proxy, from ACCEPT to its end (docs/design/proxy.md P12, P35, P36).
 *
 * A limit is one number of a proxy. A proxy in one process counts itself, as here. With several workers the process that
 * started them counts for all of them, and the connections of a worker ask it (`workers/AskedClaims.ts`).
 */
import type { EndpointId, OrgId } from "@narthex/core"
import { type Cancel, nothing } from "../control-plane/Run.ts"
import { type Address, machine, neighbourhood } from "../networks/Address.ts"
import type { tooMany } from "../outcomes/Refusal.ts"
import { AuthenticationGate, type AuthenticationLimits, type Place } from "./AuthenticationGate.ts"
import { ConnectionLimiter, type ConnectionLimits } from "./ConnectionLimiter.ts"
import { StrangerWakes } from "./StrangerWakes.ts"

/** Which limit of the endpoint or its organization is reached. */
export type Limit = Exclude<Parameters<typeof tooMany>[0], "wakes">

/** A client that ALLOW has admitted to an endpoint. */
export interface Entrant {
  readonly endpoint_id: EndpointId
  /** `undefined`: an older control plane does not name it. */
  readonly org_id: OrgId | undefined
  readonly peer: Address
  readonly user: string
}

export interface Entered {
  /** Whether the user has authenticated at the endpoint before. */
  readonly known: boolean
  /** Whether the client waited for its place. */
  readonly waited: boolean
}

/** `done` is called once, at once where nothing has to be waited for, and not after a cancel. */
export interface Claims {
  /** ACCEPT: takes a half-open connection of this peer. `false` if its address or its network has reached a limit. */
  readonly handshake: (peer: Address, done: (within: boolean) => void) => Cancel
  /** LIMIT: an attempt, a place for a client that authenticates, and a connection to the endpoint. Waits for the place. */
  readonly enter: (entrant: Entrant, done: (entered: Entered | Limit) => void) => Cancel
  /** WAKE: whether the client may wake its endpoint. The wakes of a connection count once. */
  readonly mayWake: (done: (may: boolean) => void) => Cancel
  /** RELAY begins, and with it the time to authenticate. `evict` is called when it is over. */
  readonly relayed: (evict: () => void) => void
  readonly authenticated: () => void
  /** Gives everything back. Idempotent. */
  readonly close: () => void
}

/** The limits of a proxy, and how much of them is taken. */
export class Limits {
  readonly connections: ConnectionLimiter
  readonly gate: AuthenticationGate
  readonly wakes = new StrangerWakes()
  readonly now: () => number

  /** `now` is a monotonic clock in milliseconds. */
  constructor(connections: ConnectionLimits, authentication: AuthenticationLimits, now: () => number) {
    this.connections = new ConnectionLimiter(connections)
    this.gate = new AuthenticationGate(authentication, now)
    this.now = now
  }

  /** ACCEPT: takes one of all connections; `undefined` if there is none left. */
  open(): Claims | undefined {
    return this.connections.takeConnection() ? new CountedClaims(this) : undefined
  }
}

/** What is taken is in a field of its own, because a session holds it for as long as it lasts. */
class CountedClaims implements Claims {
  readonly #limits: Limits
  /** The client whose half-open connection is taken. */
  #halfOpen: Address | undefined
  #place: Place | undefined
  #organization: OrgId | undefined
  #endpoint: EndpointId | undefined
  /** The endpoint and the network of the client, by which wakes are counted. */
  #network = ""
  #wakeCounted = false
  #open = true

  constructor(limits: Limits) {
    this.#limits = limits
  }

  handshake(peer: Address, done: (within: boolean) => void): Cancel {
    const within = this.#limits.connections.takeHandshake(peer, this.#limits.now())
    if (within) this.#halfOpen = peer
    done(within)
    return nothing
  }

  enter(entrant: Entrant, done: (entered: Entered | Limit) => void): Cancel {
    const { endpoint_id, peer, user } = entrant
    const { connections, gate, now } = this.#limits
    const network = neighbourhood(peer)
    this.#network = `${endpoint_id} ${network}`
    const known = gate.knows(endpoint_id, user)
    if (!connections.attempt(endpoint_id, known, now())) {
      done("attempts")
      return nothing
    }
    const applicant = { endpoint_id, address: machine(peer), network, user, known }
    return gate.enter(applicant, (place) => done(this.#entered(entrant, place)))
  }

  #entered({ endpoint_id, org_id }: Entrant, place: Place | undefined): Entered | Limit {
    if (place === undefined) return "unauthenticated"
    this.#place = place
    const { connections } = this.#limits
    if (org_id !== undefined) {
      if (!connections.takeOrganization(org_id)) return "organization"
      this.#organization = org_id
    }
    if (!connections.takeEndpoint(endpoint_id)) return "connections"
    this.#endpoint = endpoint_id
    this.#wakeCounted = place.known
    return { known: place.known, waited: place.waited }
  }

  mayWake(done: (may: boolean) => void): Cancel {
    this.#wakeCounted ||= this.#limits.wakes.take(this.#network, this.#limits.now())
    done(this.#wakeCounted)
    return nothing
  }

  relayed(evict: () => void): void {
    this.#opened()
    const place = this.#place
    place?.begin(() => {
      evict()
      place.release()
    })
  }

  authenticated(): void {
    this.#place?.authenticated()
    this.#place = undefined
    this.#limits.wakes.clear(this.#network)
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    const { connections } = this.#limits
    if (this.#endpoint !== undefined) connections.giveEndpoint(this.#endpoint)
    if (this.#organization !== undefined) connections.giveOrganization(this.#organization)
    this.#place?.release()
    this.#opened()
    connections.giveConnection()
  }

  /** The connection is not half-open any more. */
  #opened(): void {
    if (this.#halfOpen !== undefined) this.#limits.connections.giveHandshake(this.#halfOpen)
    this.#halfOpen = undefined
  }
}
