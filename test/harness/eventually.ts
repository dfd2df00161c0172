/** Bounded waits. A wait that reaches its limit fails the test with a sentence that names the condition. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"

/** Milliseconds by the machine's clock, even if the test controls Effect's. Generous, for loaded machines. */
const defaultLimit = 60_000

export interface Waiting {
  readonly limit?: number
  /** Milliseconds between looks. Without it they grow from 5 to 100, so that a look may be a call of the API (A34). */
  readonly every?: number
}

/** Milliseconds until the look of this number, from 0. */
const pause = (look: number, every: number | undefined) => every ?? Math.min(100, 5 * 1.5 ** look)

/** Repeats the check until it is true; fails with `Waited … for <what>` after the limit. */
export const until = async (
  what: string,
  so: () => boolean | Promise<boolean>,
  { every, limit = defaultLimit }: Waiting = {}
): Promise<void> => {
  const deadline = performance.now() + limit
  // A look may itself never answer.
  for (let look = 0; !(await bounded(what, Promise.resolve(so()), deadline, limit)); look++) {
    if (performance.now() > deadline) throw waited(what, limit)
    await sleep(pause(look, every))
  }
}

/** `until` for an effect. */
export const eventually = <E, R>(
  what: string,
  so: Effect.Effect<boolean, E, R>,
  { every, limit = defaultLimit }: Waiting = {}
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    const deadline = performance.now() + limit
    const late = Effect.callback<never>((resume) => {
      const timer = setTimeout(() => resume(Effect.die(waited(what, limit))), Math.max(0, deadline - performance.now()))
      return Effect.sync(() => clearTimeout(timer))
    })
    for (let look = 0; !(yield* Effect.raceFirst(so, late)); look++) {
      if (performance.now() > deadline) return yield* Effect.die(waited(what, limit))
      yield* Effect.promise(() => sleep(pause(look, every)))
    }
  })

/** The value of a promise, or a failure that names what did not happen within the limit. */
export const within = <A>(what: string, promise: Promise<A>, limit = defaultLimit): Promise<A> =>
  bounded(what, promise, performance.now() + limit, limit)

const waited = (what: string, limit: number) => new Error(`Waited ${limit / 1_000} s for ${what}.`)

/** The value of a promise, or a failure after the deadline, by `performance.now`. */
const bounded = async <A>(what: string, promise: Promise<A>, deadline: number, limit: number): Promise<A> => {
  const stop = new AbortController()
  const left = Math.max(0, deadline - performance.now())
  const late = sleep(left, undefined, { signal: stop.signal }).then(() => {
    throw waited(what, limit)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    stop.abort()
  }
}
