/**
 * Places for clients that have not authenticated yet, for each endpoint (docs/design/proxy.md P35).
 *
 * A place is held from WAKE until the first ReadyForQuery. Places of one endpoint are few, those of one address fewer,
 * so that strangers hold few connections of a compute. Clients without a place wait. The newest one is served first,
 * because in a flood the oldest have already given up, and a full queue drops the oldest of the address with the most.
 *
 * A user that has authenticated at the endpoint is known for a day and has separate places: role names are random, so a
 * stranger cannot take the place of a known user without knowing its name.
 *
 * A session whose client does not finish its authentication is evicted after `authentication_timeout`, and after
 * `crowded_timeout` if another client waits for the place.
 *
 * Pitfall: refusing where a place is missing. A pool opens a hundred connections at once and authenticates each within
 * milliseconds.
 */
import type { EndpointId } from "@narthex/core"
import { Duration } from "effect"
import { type Cancel, nothing } from "../control-plane/Run.ts"

export interface AuthenticationLimits {
  /** Sessions of unknown users that have not authenticated, per endpoint; as many again of known users. */
  readonly unauthenticated: number
  /** Those of one address. */
  readonly unauthenticated_per_address: number
  /** How long a client may take to authenticate once the compute has answered, from 1 s. */
  readonly authentication_timeout: Duration.Duration
  /** The same while another client waits for the place. */
  readonly crowded_timeout: Duration.Duration
}

export const defaultAuthenticationLimits: AuthenticationLimits = {
  unauthenticated: 20,
  unauthenticated_per_address: 5,
  authentication_timeout: Duration.seconds(10),
  crowded_timeout: Duration.seconds(3)
}

export interface Applicant {
  readonly endpoint_id: EndpointId
  /** The address, or a network whose addresses count as one. */
  readonly address: string
  readonly user: string
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

/** How long a client waits for a place, in milliseconds, and how many wait for one endpoint. */
const [patience, longestQueue] = [30_000, 512]
/** How long a user stays known, in milliseconds, and how many are remembered. */
const [remembered, mostKnown] = [86_400_000, 10_000]

interface Waiter {
  readonly address: string
  readonly admit: () => void
  readonly refuse: () => void
}

interface Holder {
  readonly address: string
  /** Ends the session. `undefined` until the compute has answered for long enough. */
  evict: (() => void) | undefined
}

/** The places of one endpoint for known or for unknown users. */
interface Lane {
  readonly holders: Set<Holder>
  /** The newest last. */
  readonly waiting: Array<Waiter>
  readonly perAddress: number
}

export class AuthenticationGate {
  readonly #limits: AuthenticationLimits
  readonly #now: () => number
  readonly #lanes = new Map<string, Lane>()
  readonly #known = new Map<string, number>()

  /** `now` is a monotonic clock in milliseconds. */
  constructor(limits: AuthenticationLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /**
   * Waits for a place, at most 30 s. `done` gets it, `undefined` if there was none in time, and has to release it. It is
   * not called after a cancel.
   */
  enter(applicant: Applicant, done: (place: Place | undefined) => void): Cancel {
    const { address, endpoint_id } = applicant
    const known = this.#knows(applicant)
    const key = `${endpoint_id} ${known}`
    const lane = this.#lane(key, known)
    const place = (waited: boolean) => this.#hold(key, lane, applicant, known, waited)
    if (!hasRoom(lane, address, this.#limits)) return this.#wait(key, lane, address, place, done)
    done(place(false))
    return nothing
  }

  #wait(
    key: string,
    lane: Lane,
    address: string,
    place: (waited: boolean) => Place,
    done: (place: Place | undefined) => void
  ): Cancel {
    const leave = () => {
      clearTimeout(timer)
      const at = lane.waiting.indexOf(waiter)
      if (at !== -1) lane.waiting.splice(at, 1)
      this.#tidy(key, lane)
    }
    const refuse = () => {
      leave()
      done(undefined)
    }
    const timer = setTimeout(refuse, patience)
    const admit = () => {
      clearTimeout(timer)
      done(place(true))
    }
    const waiter: Waiter = { address, admit, refuse }
    lane.waiting.push(waiter)
    if (lane.waiting.length > longestQueue) dropOldest(lane)
    this.#evictFor(lane, address)
    return leave
  }

  #lane(key: string, known: boolean): Lane {
    const perAddress = known ? this.#limits.unauthenticated : this.#limits.unauthenticated_per_address
    const lane = this.#lanes.get(key) ?? { holders: new Set(), waiting: [], perAddress }
    this.#lanes.set(key, lane)
    return lane
  }

  #hold(key: string, lane: Lane, applicant: Applicant, known: boolean, waited: boolean): Place {
    const holder: Holder = { address: applicant.address, evict: undefined }
    let timer: NodeJS.Timeout | undefined
    lane.holders.add(holder)
    const release = () => {
      clearTimeout(timer)
      if (!lane.holders.delete(holder)) return
      this.#admit(lane)
      this.#tidy(key, lane)
    }
    return {
      known,
      waited,
      begin: (evict) => {
        if (!lane.holders.has(holder)) return
        const limit = Duration.toMillis(this.#limits.authentication_timeout)
        const ripeAfter = Math.min(Duration.toMillis(this.#limits.crowded_timeout), limit)
        const ripe = () => {
          if (ripeAfter === limit) return evict()
          timer = setTimeout(evict, limit - ripeAfter)
          holder.evict = evict
          const blocked = lane.waiting.findLast(({ address }) => mayReplace(lane, holder, address))
          if (blocked !== undefined) evict()
        }
        timer = setTimeout(ripe, ripeAfter)
      },
      authenticated: () => {
        this.#remember(applicant)
        release()
      },
      release
    }
  }

  /** Gives free places to those who wait, the newest first. */
  #admit(lane: Lane): void {
    for (let at = lane.waiting.length - 1; at >= 0; at--) {
      const waiter = lane.waiting[at]
      if (waiter === undefined || !hasRoom(lane, waiter.address, this.#limits)) continue
      lane.waiting.splice(at, 1)
      waiter.admit()
    }
  }

  /** Ends the session that has taken too long, if there is one whose place the address may have. */
  #evictFor(lane: Lane, address: string): void {
    for (const { evict, ...holder } of lane.holders)
      if (evict !== undefined && mayReplace(lane, holder, address)) {
        evict()
        return
      }
  }

  #tidy(key: string, lane: Lane): void {
    if (lane.holders.size === 0 && lane.waiting.length === 0 && this.#lanes.get(key) === lane) this.#lanes.delete(key)
  }

  #knows({ endpoint_id, user }: Applicant): boolean {
    const at = this.#known.get(`${endpoint_id} ${user}`)
    return at !== undefined && this.#now() - at < remembered
  }

  #remember({ endpoint_id, user }: Applicant): void {
    const key = `${endpoint_id} ${user}`
    // Deleted first, so that the map stays in the order of use.
    this.#known.delete(key)
    this.#known.set(key, this.#now())
    const [oldest] = this.#known.keys()
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest)
  }
}

const held = (lane: Lane, address: string) => {
  let count = 0
  for (const holder of lane.holders) if (holder.address === address) count++
  return count
}

const hasRoom = (lane: Lane, address: string, { unauthenticated }: AuthenticationLimits) =>
  lane.holders.size < unauthenticated && held(lane, address) < lane.perAddress

/**
 * Whether the place of the holder would help a client at this address. An address with all of its places replaces its
 * own.
 */
const mayReplace = (lane: Lane, holder: Pick<Holder, "address">, address: string) =>
  holder.address === address || held(lane, address) < lane.perAddress

function dropOldest(lane: Lane): void {
  const counts = new Map<string, number>()
  for (const { address } of lane.waiting) counts.set(address, (counts.get(address) ?? 0) + 1)
  const most = Math.max(...counts.values())
  const at = lane.waiting.findIndex(({ address }) => counts.get(address) === most)
  lane.waiting.splice(at, 1)[0]?.refuse()
}
