/**
 * How often clients that do not authenticate may wake an endpoint (docs/design/proxy.md P36).
 *
 * Counts the wakes of an endpoint for each network (/24 or /48). The first are free; after them the pause doubles, from
 * ten minutes to six hours. An authentication from the network clears its count. Pure counting in one process.
 */
const free = 3
/** In milliseconds. */
const [firstPause, longestPause, forgotten] = [600_000, 21_600_000, 86_400_000]
const most = 10_000

interface Count {
  readonly wakes: number
  readonly at: number
}

export class StrangerWakes {
  readonly #counts = new Map<string, Count>()

  /** Counts a wake and returns whether it is allowed. `now` in milliseconds of a monotonic clock. */
  take(key: string, now: number): boolean {
    const known = this.#counts.get(key)
    const last = known === undefined || now - known.at >= forgotten ? { wakes: 0, at: now } : known
    const pause = last.wakes < free ? 0 : Math.min(longestPause, firstPause * 2 ** (last.wakes - free))
    if (now - last.at < pause) return false
    // Deleted first, so that the map stays in the order of use.
    this.#counts.delete(key)
    this.#counts.set(key, { wakes: last.wakes + 1, at: now })
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > most && oldest !== undefined) this.#counts.delete(oldest)
    return true
  }

  /** A client of the network has authenticated. */
  clear(key: string): void {
    this.#counts.delete(key)
  }
}
