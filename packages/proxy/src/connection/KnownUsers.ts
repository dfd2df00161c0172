/**
 * The users that have authenticated at an endpoint within a day (docs/design/proxy.md P35).
 *
 * Pitfall: forgetting the oldest of all when there are too many. A tenant who logs in with one new credential after the
 * other would make the users of every other tenant unknown.
 */
import type { EndpointId } from "@narthex/core"

/** How long a user stays known, in milliseconds, and how many are remembered. */
const [remembered, most] = [86_400_000, 10_000]

export class KnownUsers {
  /** When each user of an endpoint authenticated last, in the order of these times. */
  readonly #endpoints = new Map<EndpointId, Map<string, number>>()
  #size = 0

  has(endpoint: EndpointId, user: string, now: number): boolean {
    const at = this.#endpoints.get(endpoint)?.get(user)
    return at !== undefined && now - at < remembered
  }

  add(endpoint: EndpointId, user: string, now: number): void {
    const users = this.#endpoints.get(endpoint) ?? new Map<string, number>()
    this.#endpoints.set(endpoint, users)
    // Deleted first, so that the map stays in the order of use.
    if (!users.delete(user)) this.#size++
    users.set(user, now)
    if (this.#size > most) this.#forgetOne()
  }

  /** Forgets the user of the endpoint with the most who was there last the longest ago. */
  #forgetOne(): void {
    let largest: { readonly endpoint: EndpointId; readonly users: Map<string, number> } | undefined
    for (const [endpoint, users] of this.#endpoints)
      if (largest === undefined || users.size > largest.users.size) largest = { endpoint, users }
    const [oldest] = largest?.users.keys() ?? []
    if (largest === undefined || oldest === undefined) return
    largest.users.delete(oldest)
    if (largest.users.size === 0) this.#endpoints.delete(largest.endpoint)
    this.#size--
  }
}
