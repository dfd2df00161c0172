/**
 * Streams that may have something to send (docs/design/events.md E25). Each turn of the event loop serves a number of them, so
 * that neither a large organization nor many small ones delay everything else.
 */
import type { EventStream } from "./EventStream.ts"
import type { StreamHost } from "./StreamHost.ts"
import { streamMetrics } from "./StreamMetrics.ts"

export class FlushQueue {
  readonly #host: StreamHost
  readonly #soon: (task: () => void) => void
  readonly #waiting = new Set<EventStream>()
  #scheduled = false

  /** `soon` runs a task once, in a later turn of the event loop. */
  constructor(host: StreamHost, soon: (task: () => void) => void) {
    this.#host = host
    this.#soon = soon
  }

  add(streams: Iterable<EventStream>) {
    for (const stream of streams) this.#waiting.add(stream)
    this.#schedule()
  }

  #schedule() {
    if (this.#scheduled || this.#waiting.size === 0) return
    this.#scheduled = true
    this.#soon(() => this.#run())
  }

  #run() {
    const { now, record, settings } = this.#host
    const begun = now()
    let left = settings.yield_writes
    this.#scheduled = false
    for (const stream of this.#waiting) {
      this.#waiting.delete(stream)
      stream.pump()
      left -= 1
      if (left === 0) break
    }
    record(streamMetrics.flush, (now() - begun) / 1_000)
    this.#schedule()
  }
}
