/**
 * How races are run: everything is held at one line, let go at once, and many times over.
 *
 * By default a race goes on for a few seconds; with `NARTHEX_TEST_LONG=1` for its full number of rounds, and says what
 * it did.
 */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Random } from "effect"

export const long = process.env["NARTHEX_TEST_LONG"] === "1"

/** What a test of rounds may take. */
export const patience = long ? 3_600_000 : 60_000

const millis = 4_000
const lanes = 3

/** Starts all of it at the same moment, each at most a few milliseconds later by chance. Answers every outcome. */
export const race = <A, E, R>(starters: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.gen(function* () {
    const line = yield* Deferred.make<void>()
    let waiting = 0
    const held = starters.map((starter) =>
      Effect.gen(function* () {
        waiting += 1
        if (waiting === starters.length) yield* Deferred.succeed(line, undefined)
        yield* Deferred.await(line)
        // Half of them at once, so that both the head-on race and the near miss are tried.
        const late = yield* Random.nextIntBetween(-3, 4)
        if (late > 0) yield* Effect.sleep(late)
        return yield* Effect.result(starter)
      })
    )
    return yield* Effect.all(held, { concurrency: "unbounded" })
  })

export const successes = <A>(outcomes: ReadonlyArray<{ readonly _tag: "Success" | "Failure"; readonly success?: A }>) =>
  outcomes.filter((it) => it._tag === "Success").length

export interface Rounds {
  /** How many in the long form. */
  readonly count?: number
  /** How many go on beside each other. */
  readonly lanes?: number
}

/** Runs round after round; each answers what was wrong in it, and nothing may be. */
export const rounds = <E, R>(
  name: string,
  round: (n: number, lane: number) => Effect.Effect<ReadonlyArray<string>, E, R>,
  { count = 1_000, lanes: wide = lanes }: Rounds = {}
) =>
  Effect.gen(function* () {
    const begun = performance.now()
    const wrong: Array<string> = []
    let started = 0
    let done = 0
    const more = () => started < count && (long || performance.now() - begun < millis)
    const lane = (number: number) =>
      Effect.gen(function* () {
        while (more()) {
          wrong.push(...(yield* round(started++, number)))
          done += 1
        }
      })
    yield* Effect.forEach(
      Array.from({ length: wide }, (_, number) => number),
      lane,
      { concurrency: "unbounded", discard: true }
    )
    if (long)
      console.log(JSON.stringify({ name, rounds: done, seconds: Math.round((performance.now() - begun) / 1e3) }))
    assert.deepStrictEqual(wrong, [])
    assert.isAtLeast(done, wide)
  })
