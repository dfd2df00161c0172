/**
 * What a connection holds until it ends: slots, places, sockets. Released once, in reverse order, from wherever the
 * connection ends.
 *
 * It takes the place of a `Scope`, because a session outlives the fiber that opened it.
 */

/** Returns what was taken. */
export type Release = () => void

export class Held {
  readonly #releases: Array<Release> = []
  #over = false

  /** Calls `release` at the end, or when the returned function is called, once. At once if the end is over. */
  hold(release: Release): Release {
    let held = true
    const once = () => {
      if (!held) return
      held = false
      release()
    }
    if (this.#over) once()
    else this.#releases.push(once)
    return once
  }

  /** Releases everything. Idempotent. */
  release(): void {
    this.#over = true
    for (let last = this.#releases.pop(); last !== undefined; last = this.#releases.pop()) last()
  }
}
