/**
 * Free races: a fixed number of rounds, in each of which all effects start at the same moment.
 *
 * Which effect comes first is random; a test that needs a particular order forces it, see `inOrder.ts`. The order that
 * occurred is printed after the run and never asserted.
 */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Random } from "effect"
import { long, times } from "../../harness/long.ts"
import { note } from "../../harness/note.ts"

/** The timeout of a test of rounds. */
export const patience = long ? 3_600_000 : 120_000

/** Starts all effects at the same moment, plus at most a few random milliseconds each. Returns every outcome. */
export const race = <A, E, R>(starters: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.gen(function* () {
    const line = yield* Deferred.make<void>()
    let waiting = 0
    // Drawn beforehand, in one order; half of them are not late: both the head-on race and the near miss are tried.
    const delays = yield* Effect.forEach(starters, () => Random.nextIntBetween(-3, 4))
    const held = starters.map((starter, at) =>
      Effect.gen(function* () {
        waiting += 1
        if (waiting === starters.length) yield* Deferred.succeed(line, undefined)
        yield* Deferred.await(line)
        const late = delays[at] ?? 0
        if (late > 0) yield* Effect.sleep(late)
        return yield* Effect.result(starter)
      })
    )
    return yield* Effect.all(held, { concurrency: "unbounded" })
  })

export const successes = <A>(outcomes: ReadonlyArray<{ readonly _tag: "Success" | "Failure"; readonly success?: A }>) =>
  outcomes.filter((it) => it._tag === "Success").length

export interface Rounds {
  /** How many in the short form; the long form does 1,000. */
  readonly count?: number
  /** How many run concurrently. */
  readonly lanes?: number
  /** The counts of the rounds' outcomes, printed in the end. */
  readonly outcomes?: Readonly<Record<string, number>>
}

/**
 * Runs the rounds. Each returns what was wrong in it, and the test fails if anything was. The random choices of a round
 * depend only on the test's seed and the round's number.
 */
export const rounds = <E, R>(
  name: string,
  round: (n: number, lane: number) => Effect.Effect<ReadonlyArray<string>, E, R>,
  { count = 6, lanes = 3, outcomes = {} }: Rounds = {}
) =>
  Effect.gen(function* () {
    const all = times(count, 1_000)
    const seed = yield* Random.next
    const wrong: Array<string> = []
    let started = 0
    const lane = (number: number) =>
      Effect.gen(function* () {
        while (started < all) {
          const n = started++
          const found = yield* Random.withSeed(round(n, number), `${seed} ${n}`)
          wrong.push(...found.map((what) => `round ${n}: ${what}`))
        }
      })
    yield* Effect.forEach(
      Array.from({ length: lanes }, (_, number) => number),
      lane,
      { concurrency: "unbounded", discard: true }
    )
    const counts = Object.entries(outcomes).map(([outcome, times]) => `, ${times} ${outcome}`)
    note(`${name}: ${started} rounds${counts.join("")}`)
    assert.deepStrictEqual(wrong, [])
  })
