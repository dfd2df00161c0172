/**
 * A world of its own: event loop, clock and chance, all driven by one seed. Nothing in it runs by itself, so a seed
 * always gives the same run, and a simulated hour takes as long as what happens in it.
 */
import { Clock, Context, Duration, Effect, Random, References, Scheduler } from "effect"
import { Chance } from "../../../testing/simulation/Chance.ts"

interface Timer {
  readonly at: number
  /** Cancelled: `undefined`. */
  run: (() => void) | undefined
}

const stepLimit = 200_000

export class SimLoop {
  now = 1_750_000_000_000
  /** When the machine last woke from a sleep. */
  wokeAt = 0
  readonly #chance: Chance
  #steps = 0
  #turn: Array<() => void> = []
  /** The next one stands last. */
  readonly #timers: Array<Timer> = []
  #broken: Error | undefined
  /** The context of every fiber of this world. */
  readonly context: Context.Context<never>

  constructor(seed: number) {
    this.#chance = new Chance(seed)
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
      Context.add(References.MinimumLogLevel, "None"),
      Context.add(Scheduler.PreventSchedulerYield, true),
      Context.add(References.TracerEnabled, false)
    )
  }

  /** From 0 up to, not including, 1. */
  chance(): number {
    return this.#chance.next()
  }

  /** From 0 up to, not including, `limit`. */
  below(limit: number): number {
    return this.#chance.below(limit)
  }

  /** Once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0
  }

  pick<A>(items: ReadonlyArray<A>): A {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError("There is nothing to pick from.")
    return item
  }

  soon(task: () => void) {
    this.#turn.push(task)
  }

  after(millis: number, run: () => void): () => void {
    const timer: Timer = { at: this.now + Math.max(0, millis), run }
    let low = 0
    let high = this.#timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#timers[middle]?.at ?? 0) > timer.at) low = middle + 1
      else high = middle
    }
    this.#timers.splice(low, 0, timer)
    return () => {
      timer.run = undefined
    }
  }

  /** An answer that may be slow: it is true of some moment during the call. Slow once in so many times. */
  answer<A, E>(slow: number, longest: number, look: () => Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const before = this.once(slow) ? this.below(longest) : 0
      const behind = this.once(slow) ? this.below(longest) : 0
      if (before + behind === 0) return look()
      return Effect.callback<A, E>((resume) => {
        let cancel = this.after(before, () => {
          const answer = look()
          cancel = this.after(behind, () => resume(answer))
        })
        return Effect.sync(() => cancel())
      })
    })
  }

  /** Whether nothing is left that would run. */
  get idle(): boolean {
    return this.#turn.length === 0 && this.#timers.every((timer) => timer.run === undefined)
  }

  /** Reports a broken rule from where an exception would be lost: the story fails at the next advance. */
  blame(rule: string) {
    this.#broken ??= new Error(rule)
  }

  /** The machine sleeps: the clock goes on, and nothing runs. */
  sleep(millis: number) {
    this.now += millis
    this.wokeAt = this.now
  }

  /** Runs everything that is due within this time. */
  advance(millis: number) {
    const until = this.now + millis
    for (;;) {
      this.#settle()
      const next = this.#timers.at(-1)
      if (next === undefined || next.at > until) break
      this.#timers.pop()
      if (next.run === undefined) continue
      this.now = Math.max(this.now, next.at)
      next.run()
    }
    this.now = until
    if (this.#broken !== undefined) throw this.#broken
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
