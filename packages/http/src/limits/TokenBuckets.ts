/**
 * Rates that an instance keeps in memory, by credential or address (docs/design/api.md A34): a bucket of tokens for each key,
 * of which a call takes one.
 *
 * The rate limiter of Effect has the same buckets, but its memory keeps the key of every client that has ever called.
 *
 * Pitfall: counting calls in the storage, as the limits of changes are. Most calls are reads, and each would write.
 */
export interface Rate {
  readonly per_second: number
  /** How many tokens a bucket holds: as many calls pass at once after a pause. */
  readonly burst: number
}

export interface Taken {
  /** Milliseconds until the next token; 0: the call has one. */
  readonly wait: number
  readonly remaining: number
}

export class TokenBuckets {
  readonly rate: Rate
  /** When the bucket of each key is full again. A key that is missing has a full one. */
  readonly #full = new Map<string, number>()
  #sweepAt = 1_000

  constructor(rate: Rate) {
    this.rate = rate
  }

  /** `now` in milliseconds. */
  take(key: string, now: number): Taken {
    const { burst, per_second } = this.rate
    const pause = 1_000 / per_second
    // A clock that was set back leaves a time that no bucket can have.
    const full = Math.min(Math.max(this.#full.get(key) ?? now, now), now + burst * pause)
    const next = full + pause - burst * pause
    if (next > now) return { wait: Math.ceil(next - now), remaining: 0 }
    this.#full.set(key, full + pause)
    if (this.#full.size > this.#sweepAt) this.#sweep(now)
    return { wait: 0, remaining: Math.floor((now - next) / pause) }
  }

  #sweep(now: number): void {
    for (const [key, full] of this.#full) if (full <= now) this.#full.delete(key)
    this.#sweepAt = Math.max(1_000, 2 * this.#full.size)
  }
}
