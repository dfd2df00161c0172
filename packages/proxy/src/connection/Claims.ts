/**
 * What a connection takes of the limits of its proxy, from ACCEPT to its end (docs/design/proxy.md P12, P35, P36).
 *
 * A limit is one number of a proxy. A proxy in one process counts itself, as here. With several workers the process that
 * started them counts for all of them, and the connections of a worker ask it (`workers/AskedClaims.ts`).
 */
import type { EndpointId, OrgId } from "@narthex/core"
import { Data, Effect } from "effect"
import { type Address, neighbourhood } from "../networks/Address.ts"
import type { tooMany } from "../outcomes/Refusal.ts"
import { AuthenticationGate, type AuthenticationLimits, type Place } from "./AuthenticationGate.ts"
import { ConnectionLimiter, type ConnectionLimits } from "./ConnectionLimiter.ts"
import { Held, type Release } from "./Held.ts"
import { StrangerWakes } from "./StrangerWakes.ts"

/** Which limit of the endpoint or its organization is reached. */
export class LimitReached extends Data.TaggedError("LimitReached")<{
  readonly what: Exclude<Parameters<typeof tooMany>[0], "wakes">
}> {}

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

export interface Claims {
  /** ACCEPT: takes a half-open connection of this peer. `false` if its address or its network has reached a limit. */
  readonly handshake: (peer: Address) => Effect.Effect<boolean>
  /** LIMIT: an attempt, a place for a client that authenticates, and a connection to the endpoint. Waits for the place. */
  readonly enter: (entrant: Entrant) => Effect.Effect<Entered, LimitReached>
  /** WAKE: whether the client may wake its endpoint. The wakes of a connection count once. */
  readonly mayWake: Effect.Effect<boolean>
  /** RELAY begins, and with it the time to authenticate. `evict` is called when it is over. */
  readonly relayed: (evict: () => void) => void
  readonly authenticated: () => void
  /** Gives everything back. Idempotent. */
  readonly close: () => void
}

/** The limits of a proxy, and how much of them is taken. */
export class Limits {
  readonly #limiter: ConnectionLimiter
  readonly #gate: AuthenticationGate
  readonly #wakes = new StrangerWakes()
  readonly #now: () => number

  /** `now` is a monotonic clock in milliseconds. */
  constructor(connections: ConnectionLimits, authentication: AuthenticationLimits, now: () => number) {
    this.#limiter = new ConnectionLimiter(connections)
    this.#gate = new AuthenticationGate(authentication, now)
    this.#now = now
  }

  /** ACCEPT: takes one of all connections; `undefined` if there is none left. */
  open(): Claims | undefined {
    const slot = this.#limiter.connection()
    return slot === undefined ? undefined : new CountedClaims(this.#limiter, this.#gate, this.#wakes, this.#now, slot)
  }
}

class CountedClaims implements Claims {
  readonly #limiter: ConnectionLimiter
  readonly #gate: AuthenticationGate
  readonly #wakes: StrangerWakes
  readonly #now: () => number
  readonly #held = new Held()
  #releaseHandshake: Release | undefined
  #place: Place | undefined
  /** The endpoint and the network of the client, by which wakes are counted. */
  #network = ""
  #wakeCounted = false

  constructor(
    limiter: ConnectionLimiter,
    gate: AuthenticationGate,
    wakes: StrangerWakes,
    now: () => number,
    slot: Release
  ) {
    this.#limiter = limiter
    this.#gate = gate
    this.#wakes = wakes
    this.#now = now
    this.#held.hold(slot)
  }

  handshake(peer: Address): Effect.Effect<boolean> {
    return Effect.sync(() => {
      this.#releaseHandshake = this.#keep(this.#limiter.handshake(peer, this.#now()))
      return this.#releaseHandshake !== undefined
    })
  }

  enter({ endpoint_id, org_id, peer, user }: Entrant): Effect.Effect<Entered, LimitReached> {
    return Effect.gen({ self: this }, function* () {
      const limiter = this.#limiter
      this.#network = `${endpoint_id} ${neighbourhood(peer)}`
      if (!limiter.attempt(endpoint_id, this.#now())) return yield* new LimitReached({ what: "attempts" })
      const place = yield* this.#gate
        .enter({ endpoint_id, address: neighbour(peer), user }, this.#held)
        .pipe(Effect.catchTag("NoPlace", () => Effect.fail(new LimitReached({ what: "unauthenticated" }))))
      if (org_id !== undefined && this.#keep(limiter.organization(org_id)) === undefined)
        return yield* new LimitReached({ what: "organization" })
      if (this.#keep(limiter.endpoint(endpoint_id)) === undefined)
        return yield* new LimitReached({ what: "connections" })
      this.#place = place
      this.#wakeCounted = place.known
      return { known: place.known, waited: place.waited }
    })
  }

  get mayWake(): Effect.Effect<boolean> {
    return Effect.sync(() => {
      this.#wakeCounted ||= this.#wakes.take(this.#network, this.#now())
      return this.#wakeCounted
    })
  }

  relayed(evict: () => void): void {
    this.#releaseHandshake?.()
    const place = this.#place
    place?.begin(() => {
      evict()
      place.release()
    })
  }

  authenticated(): void {
    this.#place?.authenticated()
    this.#wakes.clear(this.#network)
  }

  close(): void {
    this.#held.release()
  }

  /** Holds a slot until the connection ends or the returned release is called. */
  #keep(slot: Release | undefined): Release | undefined {
    return slot === undefined ? undefined : this.#held.hold(slot)
  }
}

/** What counts as one address for places: an IPv6 client has a whole /64. */
const neighbour = (peer: Address) => (peer.family === 4 ? peer.text : neighbourhood(peer))
