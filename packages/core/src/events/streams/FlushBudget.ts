/** How much a flush may still do before it yields to other work (docs/design/events.md E25). */
import type { StreamHost } from "./StreamHost.ts"

export class FlushBudget {
  readonly #host: StreamHost
  #writes: number
  readonly #until: number
  #now: number

  private constructor(host: StreamHost, writes: number, millis: number) {
    this.#host = host
    this.#writes = writes
    this.#now = host.scheduler.now()
    this.#until = this.#now + millis
  }

  static readonly of = (host: StreamHost) => new FlushBudget(host, host.settings.yield_writes, host.millis.yield_after)

  static readonly unlimited = (host: StreamHost) =>
    new FlushBudget(host, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)

  wrote() {
    this.#writes -= 1
    // The clock is read for every 16th write only: a write takes microseconds.
    if (this.#writes % 16 !== 0) return
    this.#now = this.#host.scheduler.now()
    if (this.#now > this.#until) this.#writes = 0
  }

  /** The time as far as this budget knows it: a few writes old at most. */
  get now(): number {
    return this.#now
  }

  get spent(): boolean {
    return this.#writes <= 0
  }
}
