/**
 * The limits of one proxy process, and what each connection takes of them.
 *
 * | Until the client has proved itself | Afterwards |
 * |---|---|
 * | connections in total, half of them at most half-open | connections to the endpoint |
 * | half-open connections of a machine and of a network | connections to the endpoints of an organization |
 * | attempts of a network; failed proofs of a network at an endpoint | |
 *
 * A network is a /24 or /48, a machine an IPv4 address or a /64. When the half-open ones reach their half, the oldest of the
 * network with the most is dropped, so that silent strangers never keep an owner out.
 *
 * Refusing a TLS connection costs eight times as much as refusing a plain one, so ACCEPT applies its limits before it reads a
 * byte. The limits of an endpoint apply after the proof: no stranger uses them up.
 */
import { type EndpointId, machineOf, networkOf, type OrgId } from "@narthex/core"
import type { Address } from "../networks/Address.ts"
import { Buckets } from "../networks/Buckets.ts"

export interface ConnectionLimits {
  /** Connections of all clients. */
  readonly connections: number
  /** Half-open connections of one machine. Beyond it they are closed without an answer. */
  readonly half_open: number
  /** Half-open connections of one network. */
  readonly half_open_per_network: number
  /** Attempts per second of one network, and the size of a burst. */
  readonly attempts: number
  readonly attempts_burst: number
  /** Failed proofs per second of one network at one endpoint, and the size of a burst. */
  readonly failures: number
  readonly failures_burst: number
  /** Connections to the endpoints of one organization. */
  readonly org_connections: number
  /** Connections to one endpoint: fewer than its Postgres takes, so that some stay for the platform. */
  readonly endpoint_connections: number
}

export const defaultConnectionLimits: ConnectionLimits = {
  connections: 10_000,
  half_open: 512,
  half_open_per_network: 1_000,
  attempts: 500,
  attempts_burst: 2_000,
  failures: 10,
  failures_burst: 100,
  org_connections: 1_000,
  endpoint_connections: 90
}

/** Which limit of the endpoint or its organization is reached. */
export type Limit = "connections" | "organization"

/** Counts slots by key. A key without slots in use takes no memory. */
class Slots {
  readonly #taken = new Map<string, number>()
  readonly #maximum: number

  constructor(maximum: number) {
    this.#maximum = maximum
  }

  /** Takes a slot, if there is one. */
  take(key: string): boolean {
    const taken = this.#taken.get(key) ?? 0
    if (taken >= this.#maximum) return false
    this.#taken.set(key, taken + 1)
    return true
  }

  /** Gives back a slot that was taken. */
  give(key: string): void {
    const left = (this.#taken.get(key) ?? 1) - 1
    if (left === 0) this.#taken.delete(key)
    else this.#taken.set(key, left)
  }
}

interface HalfOpen {
  readonly machine: string
  readonly network: string
  readonly drop: () => void
}

export class ConnectionLimiter {
  readonly #all: Slots
  readonly #mostHalfOpen: number
  readonly #machines: Slots
  readonly #mostOfNetwork: number
  /** The half-open connections of each network, the oldest first. */
  readonly #networks = new Map<string, Set<HalfOpen>>()
  #halfOpen = 0
  readonly #attempts: Buckets
  readonly #failures: Buckets
  readonly #organization: Slots
  readonly #endpoint: Slots
  readonly #now: () => number

  /** `now` is a monotonic clock in milliseconds. */
  constructor(settings: ConnectionLimits, now: () => number) {
    this.#all = new Slots(settings.connections)
    this.#mostHalfOpen = Math.max(1, Math.ceil(settings.connections / 2))
    this.#machines = new Slots(settings.half_open)
    this.#mostOfNetwork = settings.half_open_per_network
    this.#attempts = new Buckets(settings.attempts, settings.attempts_burst)
    this.#failures = new Buckets(settings.failures, settings.failures_burst)
    this.#organization = new Slots(settings.org_connections)
    this.#endpoint = new Slots(settings.endpoint_connections)
    this.#now = now
  }

  /** Takes one of all connections; `undefined` if there is none left. */
  open(): HeldSlots | undefined {
    return this.#all.take("") ? new HeldSlots(this) : undefined
  }

  close(): void {
    this.#all.give("")
  }

  /**
   * Takes a half-open connection of this peer; `undefined` if its machine or its network has reached a limit. `drop` is called
   * when it has to make room.
   */
  takeHalfOpen(peer: Address, drop: () => void): HalfOpen | undefined {
    const it: HalfOpen = { machine: machineOf(peer.text), network: networkOf(peer.text), drop }
    if (!this.#attempts.take(it.network, this.#now())) return undefined
    const others = this.#networks.get(it.network) ?? new Set()
    if (others.size >= this.#mostOfNetwork || !this.#machines.take(it.machine)) return undefined
    if (this.#halfOpen >= this.#mostHalfOpen) this.#dropOne()
    this.#networks.set(it.network, others.add(it))
    this.#halfOpen++
    return it
  }

  giveHalfOpen(it: HalfOpen): void {
    const ofNetwork = this.#networks.get(it.network)
    if (ofNetwork?.delete(it) !== true) return
    if (ofNetwork.size === 0) this.#networks.delete(it.network)
    this.#machines.give(it.machine)
    this.#halfOpen--
  }

  /** Drops the oldest half-open connection of the network with the most. */
  #dropOne(): void {
    let most: Set<HalfOpen> | undefined
    for (const ofNetwork of this.#networks.values())
      if (most === undefined || ofNetwork.size > most.size) most = ofNetwork
    const [oldest] = most ?? []
    if (oldest === undefined) return
    this.giveHalfOpen(oldest)
    oldest.drop()
  }

  /** Whether the network has failed too often at the endpoint to try a proof now. */
  mayProve(endpoint: EndpointId, peer: Address): boolean {
    return this.#failures.has(failureKey(endpoint, peer), this.#now())
  }

  failed(endpoint: EndpointId, peer: Address): void {
    this.#failures.take(failureKey(endpoint, peer), this.#now())
  }

  /** Takes a connection to an endpoint of this organization, if there is one left. */
  takeOrganization(id: OrgId): boolean {
    return this.#organization.take(id)
  }

  giveOrganization(id: OrgId): void {
    this.#organization.give(id)
  }

  /** Takes a connection to this endpoint, if there is one left. */
  takeEndpoint(id: EndpointId): boolean {
    return this.#endpoint.take(id)
  }

  giveEndpoint(id: EndpointId): void {
    this.#endpoint.give(id)
  }
}

const failureKey = (endpoint: EndpointId, peer: Address) => `${endpoint} ${networkOf(peer.text)}`

/** The slots that one connection holds, from ACCEPT to its end. */
export class HeldSlots {
  readonly #limiter: ConnectionLimiter
  #halfOpen: HalfOpen | undefined
  #organization: OrgId | undefined
  #endpoint: EndpointId | undefined
  #open = true

  constructor(limiter: ConnectionLimiter) {
    this.#limiter = limiter
  }

  /** ACCEPT: from here the connection is half-open. `false`: a limit of its machine or network is reached. */
  handshake(peer: Address, drop: () => void): boolean {
    this.#halfOpen = this.#limiter.takeHalfOpen(peer, drop)
    return this.#halfOpen !== undefined
  }

  /** The client has proved itself, or its connection ends: it is not half-open any more. */
  proved(): void {
    if (this.#halfOpen !== undefined) this.#limiter.giveHalfOpen(this.#halfOpen)
    this.#halfOpen = undefined
  }

  /** LIMIT: takes a connection to the endpoint. An older control plane does not name the organization. */
  enter(endpoint: EndpointId, organization: OrgId | undefined): Limit | undefined {
    if (organization !== undefined) {
      if (!this.#limiter.takeOrganization(organization)) return "organization"
      this.#organization = organization
    }
    if (!this.#limiter.takeEndpoint(endpoint)) return "connections"
    this.#endpoint = endpoint
    return undefined
  }

  /** Gives everything back. Idempotent. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    if (this.#endpoint !== undefined) this.#limiter.giveEndpoint(this.#endpoint)
    if (this.#organization !== undefined) this.#limiter.giveOrganization(this.#organization)
    this.proved()
    this.#limiter.close()
  }
}
