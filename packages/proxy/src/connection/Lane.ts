/**
 * The places of one endpoint for known or for unknown users, who holds them, and who waits for them.
 *
 * Networks take turns, then the addresses of a network, and of one address the newest client is first: in a flood the
 * oldest clients have already given up. A network that has had no turn yet is before all others. So an owner whose user is
 * unknown waits for one turn of each other network that floods the endpoint, however many clients it has.
 *
 * Pitfall: a /64 as the network. A stranger with an ordinary /48 has 65,536 of them, and a new one has had no turn.
 */
import type { EndpointId } from "@narthex/core"

export interface Applicant {
  readonly endpoint_id: EndpointId
  /** The address, or a network whose addresses count as one. */
  readonly address: string
  /** The network of the address. */
  readonly network: string
  readonly user: string
  /** Whether the user has authenticated at the endpoint before. */
  readonly known: boolean
}

export interface Waiter {
  readonly applicant: Applicant
  /** Waits in another lane, as the newest there. */
  readonly moveTo: (lane: Lane) => void
  readonly admit: () => void
  readonly refuse: () => void
}

export interface Holder {
  readonly address: string
  /** Ends the session. `undefined` until the compute has answered for long enough. */
  evict: (() => void) | undefined
}

export interface Lane {
  readonly known: boolean
  readonly places: number
  readonly perAddress: number
  readonly holders: Set<Holder>
  /** The newest last. */
  readonly waiting: Array<Waiter>
  /** The turn in which a network or an address was last admitted, in the order of turns. */
  readonly turns: Map<string, number>
  turn: number
  /** Ends the wait for the next time at which a client may begin. */
  timer: NodeJS.Timeout | undefined
}

/** How many networks and addresses are remembered in the order of their turns. */
const mostTurns = 2_048

export const emptyLane = (known: boolean, places: number, perAddress: number): Lane => ({
  known,
  places,
  perAddress,
  holders: new Set(),
  waiting: [],
  turns: new Map(),
  turn: 0,
  timer: undefined
})

const held = (lane: Lane, address: string) => {
  let count = 0
  for (const holder of lane.holders) if (holder.address === address) count++
  return count
}

export const hasRoom = (lane: Lane, address: string) =>
  lane.holders.size < lane.places && held(lane, address) < lane.perAddress

/**
 * Whether a client at this address waits for a place, and that of the holder would help. An address with all of its places
 * replaces its own.
 */
export const needs = (lane: Lane, holder: Pick<Holder, "address">, address: string) =>
  !hasRoom(lane, address) && (holder.address === address || held(lane, address) < lane.perAddress)

/** Notes that this client was admitted while others wait. */
export const takeTurn = (lane: Lane, { address, network }: Applicant): void => {
  lane.turn++
  for (const key of new Set([network, address])) {
    // Deleted first, so that the map stays in the order of turns.
    lane.turns.delete(key)
    lane.turns.set(key, lane.turn)
  }
  while (lane.turns.size > mostTurns) {
    const [oldest] = lane.turns.keys()
    if (oldest !== undefined) lane.turns.delete(oldest)
  }
}

/** The next client to admit of those that have room and `may` begin. */
export const nextWaiter = (lane: Lane, may: (waiter: Waiter) => boolean): Waiter | undefined => {
  let next: { readonly waiter: Waiter; readonly network: number; readonly address: number } | undefined
  for (let at = lane.waiting.length - 1; at >= 0; at--) {
    const waiter = lane.waiting[at]
    if (waiter === undefined) continue
    const network = lane.turns.get(waiter.applicant.network) ?? 0
    const address = lane.turns.get(waiter.applicant.address) ?? 0
    const isFirst = next === undefined || network < next.network || (network === next.network && address < next.address)
    if (isFirst && hasRoom(lane, waiter.applicant.address) && may(waiter)) next = { waiter, network, address }
  }
  return next?.waiter
}

/** Takes a client from those that wait. */
export const takeOut = (lane: Lane, waiter: Waiter): void => {
  const at = lane.waiting.indexOf(waiter)
  if (at !== -1) lane.waiting.splice(at, 1)
}

/** Refuses the oldest client of the address with the most, of the network with the most. */
export const dropOldest = (lane: Lane): void => {
  const ofNetwork = most(lane.waiting, ({ applicant }) => applicant.network)
  most(ofNetwork, ({ applicant }) => applicant.address)[0]?.refuse()
}

/** Those with the key that most of them have. */
const most = (waiting: ReadonlyArray<Waiter>, keyOf: (waiter: Waiter) => string): ReadonlyArray<Waiter> => {
  const groups = Map.groupBy(waiting, keyOf)
  let largest: ReadonlyArray<Waiter> = []
  for (const group of groups.values()) if (group.length > largest.length) largest = group
  return largest
}
