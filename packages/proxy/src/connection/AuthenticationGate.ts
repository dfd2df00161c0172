/**
 * Places for clients that have not authenticated yet, for each endpoint (docs/design/proxy.md P35).
 *
 * A place is held from WAKE until the first ReadyForQuery. Places of one endpoint are few, those of one address fewer,
 * so that strangers hold few connections of a compute. Clients without a place wait (`Lane`).
 *
 * A user that has authenticated at the endpoint is known for a day and has separate places: role names are random, so a
 * stranger cannot take the place of a known user without knowing its name. Places of unknown users are also given at a
 * rate, because each makes the compute start a session: one for each endpoint, and one for each network at all endpoints.
 * A client that authenticates does not count, so the rate does not slow those who come back to a proxy that has restarted.
 *
 * A session whose client does not finish its authentication is evicted after `authentication_timeout`, and after
 * `crowded_timeout` if another client waits for the place.
 *
 * Pitfall: refusing where a place is missing. A pool opens a hundred connections at once and authenticates each within
 * milliseconds.
 * Pitfall: leaving such a pool among the unknown. The first of its connections that authenticates makes its user known,
 * and the others would wait for the rate of strangers.
 */
import type { EndpointId } from "@narthex/core"
import { Duration } from "effect"
import { type Cancel, nothing } from "../control-plane/Run.ts"
import { Buckets } from "./Buckets.ts"
import { KnownUsers } from "./KnownUsers.ts"
import {
  type Applicant,
  dropOldest,
  emptyLane,
  type Holder,
  hasRoom,
  type Lane,
  needs,
  nextWaiter,
  takeOut,
  takeTurn,
  type Waiter
} from "./Lane.ts"

export interface AuthenticationLimits {
  /** Sessions of unknown users that have not authenticated, per endpoint; as many again of known users. */
  readonly unauthenticated: number
  /** Those of one address. */
  readonly unauthenticated_per_address: number
  /**
   * Sessions of unknown users that begin at one endpoint per second and do not authenticate. After a pause as many as in
   * one second begin at once, or `unauthenticated` if that is more.
   */
  readonly unknown_rate: number
  /** The same from one /24 or /48 at all endpoints. After a pause as many as in five seconds begin at once. */
  readonly unknown_rate_per_network: number
  /** How long a client may take to authenticate once the compute has answered, from 1 s. */
  readonly authentication_timeout: Duration.Duration
  /** The same while another client waits for the place. */
  readonly crowded_timeout: Duration.Duration
}

export const defaultAuthenticationLimits: AuthenticationLimits = {
  unauthenticated: 20,
  unauthenticated_per_address: 5,
  unknown_rate: 10,
  unknown_rate_per_network: 20,
  authentication_timeout: Duration.seconds(10),
  crowded_timeout: Duration.seconds(3)
}

export interface Place {
  /** Whether the user has authenticated at the endpoint before. */
  readonly known: boolean
  /** Whether the client waited for it. */
  readonly waited: boolean
  /** The compute has answered: `evict` is called if the client takes too long, or too long for those who wait. */
  readonly begin: (evict: () => void) => void
  /** The client has authenticated. Releases the place. */
  readonly authenticated: () => void
  /** Idempotent. */
  readonly release: () => void
}

/** How long a client waits for a place, in milliseconds, and how many known or unknown users wait for one endpoint. */
const [patience, longestQueue] = [30_000, 512]
/** Seconds of the rate of a network that it may use at once. */
const networkBurst = 5

const laneKey = (endpoint: EndpointId, known: boolean) => `${endpoint} ${known}`

export class AuthenticationGate {
  readonly #limits: AuthenticationLimits
  readonly #now: () => number
  readonly #lanes = new Map<string, Lane>()
  readonly #known = new KnownUsers()
  readonly #begunAt: Buckets
  readonly #begunFrom: Buckets

  /** `now` is a monotonic clock in milliseconds. */
  constructor(limits: AuthenticationLimits, now: () => number) {
    const { unauthenticated, unknown_rate, unknown_rate_per_network } = limits
    this.#limits = limits
    this.#now = now
    this.#begunAt = new Buckets(unknown_rate, Math.max(unknown_rate, unauthenticated))
    this.#begunFrom = new Buckets(unknown_rate_per_network, networkBurst * unknown_rate_per_network)
  }

  /** Whether the user has authenticated at the endpoint within a day. */
  knows(endpoint_id: EndpointId, user: string): boolean {
    return this.#known.has(endpoint_id, user, this.#now())
  }

  /**
   * Waits for a place, at most 30 s. `done` gets it, `undefined` if there was none in time, and has to release it. It is
   * not called after a cancel.
   */
  enter(applicant: Applicant, done: (place: Place | undefined) => void): Cancel {
    const lane = this.#lane(applicant.endpoint_id, applicant.known)
    if (lane.waiting.length > 0 || !this.#fits(lane, applicant)) return this.#wait(lane, applicant, done)
    this.#begin(lane, applicant)
    done(this.#hold(lane, applicant, false))
    return nothing
  }

  #wait(first: Lane, applicant: Applicant, done: (place: Place | undefined) => void): Cancel {
    let waited = false
    let lane = first
    const leave = () => {
      clearTimeout(timer)
      takeOut(lane, waiter)
      this.#tidy(applicant.endpoint_id, lane)
    }
    const waiter: Waiter = {
      applicant,
      moveTo: (other) => {
        takeOut(lane, waiter)
        lane = other
        lane.waiting.push(waiter)
      },
      admit: () => {
        clearTimeout(timer)
        takeOut(lane, waiter)
        this.#begin(lane, applicant)
        done(this.#hold(lane, applicant, waited))
      },
      refuse: () => {
        leave()
        done(undefined)
      }
    }
    const timer = setTimeout(waiter.refuse, patience)
    lane.waiting.push(waiter)
    if (this.#fits(lane, applicant)) this.#admit(lane)
    else this.#schedule(lane)
    if (!lane.waiting.includes(waiter)) return nothing
    waited = true
    while (lane.waiting.length > longestQueue) dropOldest(lane)
    this.#evictOne(lane)
    return leave
  }

  #lane(endpoint: EndpointId, known: boolean): Lane {
    const { unauthenticated, unauthenticated_per_address } = this.#limits
    const key = laneKey(endpoint, known)
    const lane =
      this.#lanes.get(key) ?? emptyLane(known, unauthenticated, known ? unauthenticated : unauthenticated_per_address)
    this.#lanes.set(key, lane)
    return lane
  }

  /** Whether there is a place for the client, and a time to begin. */
  #fits(lane: Lane, applicant: Applicant): boolean {
    return hasRoom(lane, applicant.address) && this.#untilNext(lane, applicant) === 0
  }

  /** Milliseconds until a client may begin, were there a place. */
  #untilNext({ known }: Lane, { endpoint_id, network }: Applicant): number {
    if (known) return 0
    const now = this.#now()
    return Math.max(this.#begunAt.wait(endpoint_id, now), this.#begunFrom.wait(network, now))
  }

  #begin(lane: Lane, applicant: Applicant): void {
    if (lane.waiting.length > 0) takeTurn(lane, applicant)
    if (lane.known) return
    this.#begunAt.take(applicant.endpoint_id, this.#now())
    this.#begunFrom.take(applicant.network, this.#now())
  }

  #giveBack({ endpoint_id, network }: Applicant): void {
    this.#begunAt.give(endpoint_id, this.#now())
    this.#begunFrom.give(network, this.#now())
  }

  #hold(lane: Lane, applicant: Applicant, waited: boolean): Place {
    const holder: Holder = { address: applicant.address, evict: undefined }
    let timer: NodeJS.Timeout | undefined
    lane.holders.add(holder)
    const release = () => {
      clearTimeout(timer)
      if (!lane.holders.delete(holder)) return
      this.#admit(lane)
      this.#tidy(applicant.endpoint_id, lane)
    }
    return {
      known: lane.known,
      waited,
      begin: (evict) => {
        if (!lane.holders.has(holder)) return
        const limit = Duration.toMillis(this.#limits.authentication_timeout)
        const ripeAfter = Math.min(Duration.toMillis(this.#limits.crowded_timeout), limit)
        const ripe = () => {
          if (ripeAfter === limit) return evict()
          timer = setTimeout(evict, limit - ripeAfter)
          holder.evict = evict
          this.#evictOne(lane)
        }
        timer = setTimeout(ripe, ripeAfter)
      },
      authenticated: () => {
        this.#known.add(applicant.endpoint_id, applicant.user, this.#now())
        if (!lane.known) this.#giveBack(applicant)
        this.#becameKnown(applicant)
        release()
      },
      release
    }
  }

  /** Gives free places to those who wait. */
  #admit(lane: Lane): void {
    const may = ({ applicant }: Waiter) => this.#untilNext(lane, applicant) === 0
    for (let next = nextWaiter(lane, may); next !== undefined; next = nextWaiter(lane, may)) next.admit()
    this.#schedule(lane)
    this.#evictOne(lane)
  }

  /** Admits again when the next client may begin. One without room may then have that of a session that takes too long. */
  #schedule(lane: Lane): void {
    clearTimeout(lane.timer)
    lane.timer = undefined
    if (lane.known) return
    let soonest = Number.POSITIVE_INFINITY
    for (const { applicant } of lane.waiting) {
      const wait = this.#untilNext(lane, applicant)
      if (wait > 0) soonest = Math.min(soonest, wait)
    }
    if (soonest < Number.POSITIVE_INFINITY) lane.timer = setTimeout(() => this.#admit(lane), Math.ceil(soonest))
  }

  /** Those who wait with a user that has become known wait among the known. */
  #becameKnown({ endpoint_id, user }: Applicant): void {
    const unknown = this.#lanes.get(laneKey(endpoint_id, false))
    const waiting = unknown?.waiting.filter(({ applicant }) => applicant.user === user) ?? []
    if (unknown === undefined || waiting.length === 0) return
    const lane = this.#lane(endpoint_id, true)
    for (const waiter of waiting) waiter.moveTo(lane)
    while (lane.waiting.length > longestQueue) dropOldest(lane)
    this.#admit(lane)
    this.#tidy(endpoint_id, unknown)
  }

  /** Ends a session that has taken too long, if a client that lacks nothing but a place may have its. */
  #evictOne(lane: Lane): void {
    for (const holder of lane.holders) {
      const { evict } = holder
      if (evict === undefined) continue
      const mayBegin = ({ applicant }: Waiter) => this.#untilNext(lane, applicant) === 0
      if (!lane.waiting.some((waiter) => needs(lane, holder, waiter.applicant.address) && mayBegin(waiter))) continue
      holder.evict = undefined
      evict()
      return
    }
  }

  #tidy(endpoint: EndpointId, lane: Lane): void {
    if (lane.waiting.length > 0) return
    clearTimeout(lane.timer)
    lane.timer = undefined
    const key = laneKey(endpoint, lane.known)
    if (lane.holders.size === 0 && this.#lanes.get(key) === lane) this.#lanes.delete(key)
  }
}
