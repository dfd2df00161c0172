/**
 * Runs many small simulated worlds, each determined by its number: 1,000 in the short form, a hundred thousand in
 * the long one, or as many as `NARTHEX_TEST_SEEDS` says. The numbers are dealt out to several test files, so that every
 * core has its share.
 *
 * One story again, by the number that a failure names: `NARTHEX_TEST_WORLD=4711`.
 * Holds docs/design/events.md E6.
 */
import { assert, describe, it } from "@effect/vitest"
import { times } from "../../../../../test/harness/long.ts"
import { note } from "../../../../../test/harness/note.ts"
import { type Story, simulate } from "./simulate.ts"

const { NARTHEX_TEST_SEEDS: wanted, NARTHEX_TEST_WORLD: only } = process.env
const count = Number(wanted ?? times(1_000, 100_000))
/** Fewer worlds than this need not have everything in them that can go wrong. */
const telling = 1_000

const tell = (world: number): Story => {
  try {
    return simulate(world)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`In world ${world} (NARTHEX_TEST_WORLD=${world}): ${why}`, { cause })
  }
}

/** Worlds are full of errors that no test reads; the traces of their stacks would cost a tenth of the time. */
const withoutTraces = (work: () => void) => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    work()
  } finally {
    Error.stackTraceLimit = limit
  }
}

/** The worlds of one part of several. */
const worldsOf = (part: number, parts: number): ReadonlyArray<number> =>
  only === undefined
    ? Array.from({ length: count }, (_, world) => world).filter((world) => world % parts === part - 1)
    : [Number(only)]

export const simulationSuite = (part: number, parts: number) =>
  describe(`event streams in simulated worlds, part ${part} of ${parts}`, () => {
    it("simulated event streams keep order, scope, completeness and revocations, whatever happens", {
      timeout: 3_600_000
    }, () => {
      const worlds = worldsOf(part, parts)
      const total = new Map<string, number>()
      withoutTraces(() => {
        for (const world of worlds)
          for (const [what, times] of Object.entries(tell(world)))
            if (typeof times === "number") total.set(what, (total.get(what) ?? 0) + times)
      })
      const counts = [...total].map(([what, times]) => `${times} ${what}`).join(", ")
      note(`Part ${part} of ${parts} of the simulation, ${worlds.length} worlds: ${counts}.`)
      // Worlds in which nothing goes wrong would prove nothing. The numbers of the worlds decide: this is no luck.
      if (worlds.length >= telling / parts)
        for (const [what, times] of total) assert.isAbove(times, worlds.length / 20, what)
    })

    it("a simulated world repeats exactly by its number", () => {
      for (let world = 0; world < 20; world++) assert.deepStrictEqual(simulate(world), simulate(world))
    })
  })
