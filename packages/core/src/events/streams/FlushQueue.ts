/**
 * Organizations whose streams have something to send (docs/design/events.md E25). One turn of the event loop serves them
 * one after the other until its budget is spent, so that neither a large one nor many small ones delay everything else.
 */
import { FlushBudget } from "./FlushBudget.ts"
import type { OrgFanout } from "./OrgFanout.ts"
import type { StreamHost } from "./StreamHost.ts"

export class FlushQueue {
  readonly #host: StreamHost
  readonly #waiting = new Set<OrgFanout>()
  #scheduled = false

  constructor(host: StreamHost) {
    this.#host = host
  }

  add(fanout: OrgFanout) {
    this.#waiting.add(fanout)
    this.#schedule()
  }

  #schedule() {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#host.scheduler.soon(() => this.#run())
  }

  #run() {
    this.#scheduled = false
    const budget = FlushBudget.of(this.#host)
    for (const fanout of this.#waiting) {
      this.#waiting.delete(fanout)
      fanout.flush(budget) // adds itself again if it did not finish
      if (budget.spent) break
    }
    if (this.#waiting.size > 0) this.#schedule()
  }
}
