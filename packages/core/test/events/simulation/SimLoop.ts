/**
 * A world of its own: event loop, clock and chance, all driven by one seed. Nothing in it runs by itself, so a seed
 * always tells the same story, and a simulated hour takes as long as what happens in it.
 */
import { Clock, Context, Duration, Effect, Random, References, Scheduler } from "effect"

interface Timer {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

const stepLimit = 200_000

export class SimLoop {
  now = 1_750_000_000_000
  #state: number
  #order = 0
  #steps = 0
  #turn: Array<() => void> = []
  readonly #timers = new Set<Timer>()
  /** What every fiber of this world runs with. */
  readonly context: Context.Context<never>

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0
    const currentTimeMillisUnsafe = () => this.now
    const nanos = () => BigInt(this.now) * 1_000_000n
    const clock: Clock.Clock = {
      currentTimeMillisUnsafe,
      currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) =>
        Effect.callback<void>((resume) => {
          const cancel = this.after(Duration.toMillis(duration), () => resume(Effect.void))
          return Effect.sync(cancel)
        })
    }
    const random: typeof Random.Random.Service = {
      nextDoubleUnsafe: () => this.chance(),
      nextIntUnsafe: () => Math.floor(this.chance() * 2 ** 31)
    }
    const scheduler = new Scheduler.MixedScheduler("async", (task) => {
      this.soon(task)
      return () => {
        this.#turn = this.#turn.filter((it) => it !== task)
      }
    })
    this.context = Context.make(Clock.Clock, clock).pipe(
      Context.add(Random.Random, random),
      Context.add(Scheduler.Scheduler, scheduler),
      Context.add(References.MinimumLogLevel, "None")
    )
  }

  /** From 0 up to, not including, 1 (mulberry32). */
  chance(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** From 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.chance() * limit)
  }

  pick<A>(items: ReadonlyArray<A>): A | undefined {
    return items[this.below(items.length)]
  }

  soon(task: () => void) {
    this.#turn.push(task)
  }

  after(millis: number, run: () => void): () => void {
    const timer = { at: this.now + Math.max(0, millis), order: this.#order++, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Runs everything that is due within this time. */
  advance(millis: number) {
    const until = this.now + millis
    for (;;) {
      this.#settle()
      let next: Timer | undefined
      for (const timer of this.#timers)
        if (
          timer.at <= until &&
          (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        )
          next = timer
      if (next === undefined) break
      this.#timers.delete(next)
      this.now = Math.max(this.now, next.at)
      next.run()
    }
    this.now = until
  }

  #settle() {
    while (this.#turn.length > 0) {
      const turn = this.#turn
      this.#turn = []
      for (const task of turn) {
        this.#steps += 1
        if (this.#steps > stepLimit) throw new Error("The simulation does not come to rest.")
        task()
      }
    }
  }
}
