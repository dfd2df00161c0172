/**
 * Tells the stories of many small worlds, each made by its seed alone. The seeds are dealt out to several test files, so
 * that every core has its share. 20,000 by default, a hundred thousand in CI (`NARTHEX_TEST_SEEDS`) and in the long form.
 *
 * One story again, by the number that a failure names: `NARTHEX_TEST_SEED=4711`.
 */
import { assert, describe, it } from "@effect/vitest"
import { simulate, type Story } from "./simulate.ts"

const { NARTHEX_TEST_LONG: long, NARTHEX_TEST_SEED: only, NARTHEX_TEST_SEEDS: wanted } = process.env
const count = Number(wanted ?? (long === "1" ? 100_000 : 20_000))

const tell = (seed: number): Story => {
  try {
    return simulate(seed)
  } catch (cause) {
    throw new Error(`Seed ${seed}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

/** Worlds are full of errors that nobody looks at; the traces of their stacks would cost a tenth of the time. */
const withoutTraces = (work: () => void) => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    work()
  } finally {
    Error.stackTraceLimit = limit
  }
}

/** This part, of so many, of all seeds. */
export const simulationSuite = (part: number, parts: number) =>
  describe(`event streams in simulated worlds, part ${part} of ${parts}`, () => {
    if (only !== undefined) {
      it.runIf(part === 1)(`keep their promises in world ${only}`, () => void tell(Number(only)))
      return
    }

    it("keep order, scope, completeness and revocations, whatever happens", { timeout: 3_600_000 }, () => {
      const total = new Map<string, number>()
      let worlds = 0
      withoutTraces(() => {
        for (let seed = part - 1; seed < count; seed += parts) {
          worlds += 1
          for (const [what, times] of Object.entries(tell(seed)))
            if (typeof times === "number") total.set(what, (total.get(what) ?? 0) + times)
        }
      })
      console.log(JSON.stringify({ worlds, ...Object.fromEntries(total) }))
      // Worlds in which nothing goes wrong would prove nothing.
      for (const [what, times] of total) assert.isAbove(times, worlds / 20, what)
    })

    it("are told again word by word by their seed", () => {
      for (let seed = 0; seed < 20; seed++) assert.deepStrictEqual(simulate(seed), simulate(seed))
    })
  })
