/** A token bucket for each key. Full buckets are removed. Times are milliseconds of a monotonic clock. */
export class Buckets {
  readonly #levels = new Map<string, { tokens: number; at: number }>()
  readonly #rate: number
  readonly #burst: number
  #sweepAt = 1_024

  /** `rate` in tokens per second; `burst` is the size of a bucket. */
  constructor(rate: number, burst: number) {
    this.#rate = rate
    this.#burst = burst
  }

  take(key: string, now: number): boolean {
    const tokens = this.#tokens(key, now)
    this.#levels.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now })
    if (this.#levels.size > this.#sweepAt) this.#sweep(now)
    return tokens >= 1
  }

  /** Whether there is a token to take. */
  has(key: string, now: number): boolean {
    return this.#tokens(key, now) >= 1
  }

  #tokens(key: string, now: number): number {
    const level = this.#levels.get(key)
    if (level === undefined) return this.#burst
    return Math.min(this.#burst, level.tokens + ((now - level.at) / 1_000) * this.#rate)
  }

  #sweep(now: number): void {
    for (const [key, { at, tokens }] of this.#levels)
      if (tokens + ((now - at) / 1_000) * this.#rate >= this.#burst) this.#levels.delete(key)
    this.#sweepAt = Math.max(1_024, 2 * this.#levels.size)
  }
}
