/**
 * The connections that wait for a worker. The networks (/24 or /48) they come from take turns, so that a client waits for
 * one connection of each other network that floods the proxy, however many it opens.
 */
import { type Address, neighbourhood } from "../networks/Address.ts"

export class ArrivalQueue<A extends { readonly from: Address }> {
  /** The next network first. */
  readonly #networks = new Map<string, Set<A>>()

  add(arrival: A): void {
    const network = neighbourhood(arrival.from)
    const waiting = this.#networks.get(network) ?? new Set()
    this.#networks.set(network, waiting.add(arrival))
  }

  delete(arrival: A): void {
    const network = neighbourhood(arrival.from)
    const waiting = this.#networks.get(network)
    if (waiting?.delete(arrival) === true && waiting.size === 0) this.#networks.delete(network)
  }

  /** Takes the oldest connection of the next network. */
  take(): A | undefined {
    for (const [network, waiting] of this.#networks) {
      this.#networks.delete(network)
      const [oldest] = waiting
      if (oldest === undefined) continue
      waiting.delete(oldest)
      if (waiting.size > 0) this.#networks.set(network, waiting)
      return oldest
    }
    return undefined
  }

  /** All of them. */
  *[Symbol.iterator](): Iterator<A> {
    for (const waiting of this.#networks.values()) yield* waiting
  }
}
