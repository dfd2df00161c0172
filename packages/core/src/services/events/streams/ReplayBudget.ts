/**
 * Limits how many replays run at a time, and how many bytes they have in flight together (docs/design/events.md E24, step
 * 7): clients that reconnect together are served in turns, first come, first served.
 */
import { Deferred, Effect } from "effect"

interface Request {
  readonly bytes: number
  readonly granted: Deferred.Deferred<void>
}

export interface ReplayTurn {
  readonly granted: Effect.Effect<void>
  /** Gives the turn back, or stops waiting for it. Idempotent. */
  readonly over: () => void
}

export class ReplayBudget {
  readonly #replays: number
  readonly #bytes: number
  readonly #running = new Set<Request>()
  readonly #waiting = new Set<Request>()

  constructor(replays: number, bytes: number) {
    this.#replays = replays
    this.#bytes = bytes
  }

  /** Requests a turn for a replay of this many bytes. A replay larger than the whole budget runs alone. */
  request(bytes: number): ReplayTurn {
    const request: Request = { bytes, granted: Deferred.makeUnsafe() }
    this.#waiting.add(request)
    this.#grant()
    return {
      granted: Deferred.await(request.granted),
      over: () => {
        this.#waiting.delete(request)
        this.#running.delete(request)
        this.#grant()
      }
    }
  }

  #grant() {
    for (const request of this.#waiting) {
      const inFlight = [...this.#running].reduce((sum, it) => sum + it.bytes, 0)
      const fits = this.#running.size < this.#replays && inFlight + request.bytes <= this.#bytes
      if (!fits && this.#running.size > 0) return
      this.#waiting.delete(request)
      this.#running.add(request)
      Deferred.doneUnsafe(request.granted, Effect.void)
    }
  }
}
