/**
 * Limits the number of connections and the rate of attempts.
 *
 * Pure counting in one process. Refusing a TLS connection costs eight times as much as refusing a plain one, so ACCEPT
 * applies its limits before it reads a byte. The limits of an endpoint apply after the allowlist, so that clients that
 * are not listed cannot exhaust them.
 */
import type { EndpointId, OrgId } from "@narthex/core"
import { type Address, machine, neighbourhood } from "../networks/Address.ts"
import { Buckets } from "./Buckets.ts"

export interface ConnectionLimits {
  /** Connections of all clients. */
  readonly connections: number
  /** Connections of one address (IPv6: a /64) that are not relayed yet. Beyond it they are closed without an answer. */
  readonly half_open: number
  /** Those of one /24 or /48, so that no network takes all `connections` without opening a session. */
  readonly half_open_per_network: number
  /** Attempts per second of one /24 or /48, and the size of a burst. */
  readonly attempts: number
  readonly attempts_burst: number
  /** Connections to the endpoints of one organization. */
  readonly org_connections: number
  /** Connections to one endpoint: fewer than its Postgres takes, so that some stay for the platform. */
  readonly endpoint_connections: number
  /** Attempts per second at one endpoint, and the size of a burst: of known users, and as many of all others. */
  readonly endpoint_attempts: number
  readonly endpoint_attempts_burst: number
}

export const defaultConnectionLimits: ConnectionLimits = {
  connections: 10_000,
  half_open: 512,
  half_open_per_network: 1_000,
  attempts: 500,
  attempts_burst: 2_000,
  org_connections: 1_000,
  endpoint_connections: 90,
  endpoint_attempts: 500,
  endpoint_attempts_burst: 2_000
}

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

export class ConnectionLimiter {
  readonly #all: Slots
  readonly #halfOpen: Slots
  readonly #halfOpenNetwork: Slots
  readonly #attempts: Buckets
  readonly #organization: Slots
  readonly #endpoint: Slots
  readonly #endpointAttempts: Buckets

  constructor(settings: ConnectionLimits) {
    this.#all = new Slots(settings.connections)
    this.#halfOpen = new Slots(settings.half_open)
    this.#halfOpenNetwork = new Slots(settings.half_open_per_network)
    this.#attempts = new Buckets(settings.attempts, settings.attempts_burst)
    this.#organization = new Slots(settings.org_connections)
    this.#endpoint = new Slots(settings.endpoint_connections)
    this.#endpointAttempts = new Buckets(settings.endpoint_attempts, settings.endpoint_attempts_burst)
  }

  /** Takes one of `connections`, if there is one left. */
  takeConnection(): boolean {
    return this.#all.take("")
  }

  giveConnection(): void {
    this.#all.give("")
  }

  /**
   * Takes a half-open connection of this peer; `false` if its address or its network has reached a limit. `now` in
   * milliseconds.
   */
  takeHandshake(peer: Address, now: number): boolean {
    const [network, address] = [neighbourhood(peer), machine(peer)]
    if (!this.#attempts.take(network, now) || !this.#halfOpen.take(address)) return false
    if (this.#halfOpenNetwork.take(network)) return true
    this.#halfOpen.give(address)
    return false
  }

  giveHandshake(peer: Address): void {
    this.#halfOpen.give(machine(peer))
    this.#halfOpenNetwork.give(neighbourhood(peer))
  }

  /**
   * Counts an attempt to connect to this endpoint; `false` if there were too many. `known`: of a user that has authenticated
   * there, so that attempts of strangers refuse no owner. `now` in milliseconds.
   */
  attempt(id: EndpointId, known: boolean, now: number): boolean {
    return this.#endpointAttempts.take(known ? id : `${id} unknown`, now)
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
