/**
 * Runs many simulated worlds, each told by its seed alone. The seeds are dealt out to several test files, so that every
 * core has its share.
 *
 * 20,000 by default, a hundred thousand in CI (`NARTHEX_TEST_SEEDS`) and in the long form. One story again, by the number
 * that a failure names: `NARTHEX_TEST_SEED=4711`.
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

const counted = [
  "events",
  "gaps",
  "overflows",
  "revoked",
  "drained",
  "connections",
  "refusals",
  "beats",
  "crashes"
] as const satisfies ReadonlyArray<keyof Story>

/** This part, of so many, of all seeds. */
export const simulationSuite = (part: number, parts: number) =>
  describe(`event streams in simulated worlds, part ${part} of ${parts}`, () => {
    it("keep order, scope, completeness and revocations, whatever happens", { timeout: 3_600_000 }, () => {
      if (only !== undefined) return void tell(Number(only))
      const total = Object.fromEntries(counted.map((what) => [what, 0]))
      let worlds = 0
      for (let seed = part - 1; seed < count; seed += parts) {
        const story = tell(seed)
        worlds += 1
        for (const what of counted) total[what] = (total[what] ?? 0) + story[what]
      }
      console.log(JSON.stringify({ worlds, ...total }))
      // Worlds in which nothing goes wrong would prove nothing.
      for (const what of counted) assert.isAbove(total[what] ?? 0, worlds / 20, what)
    })

    it("are told again word by word by their seed", () => {
      assert.deepStrictEqual(simulate(42), simulate(42))
    })
  })
