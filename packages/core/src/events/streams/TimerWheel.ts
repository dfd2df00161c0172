/**
 * Many timers on one: items in buckets of equal width (docs/design/events.md E25). Pure.
 *
 * It is a reminder, not a schedule: due items re-check their own state and reschedule themselves.
 */
export class TimerWheel<A> {
  readonly #width: number
  readonly #buckets = new Map<number, Set<A>>()
  #done: number

  constructor(width: number, now: number) {
    this.#width = width
    this.#done = Math.floor(now / width)
  }

  add(item: A, at: number) {
    const bucket = Math.max(Math.ceil(at / this.#width), this.#done + 1)
    const items = this.#buckets.get(bucket) ?? new Set<A>()
    this.#buckets.set(bucket, items.add(item))
  }

  /** Removes and returns the items that are due. */
  due(now: number): ReadonlyArray<A> {
    const current = Math.floor(now / this.#width)
    const items: Array<A> = []
    // A clock that jumps far ahead passes more buckets than exist.
    const passed =
      current - this.#done > this.#buckets.size
        ? [...this.#buckets.keys()].filter((bucket) => bucket <= current).sort((a, b) => a - b)
        : Array.from({ length: Math.max(0, current - this.#done) }, (_, index) => this.#done + 1 + index)
    for (const bucket of passed) {
      items.push(...(this.#buckets.get(bucket) ?? []))
      this.#buckets.delete(bucket)
    }
    this.#done = Math.max(this.#done, current)
    return items
  }
}
