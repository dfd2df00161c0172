import { assert, describe, it } from "@effect/vitest"
import { simulate, type Story } from "./simulate.ts"

// One story again: NARTHEX_TEST_SEED=4711. Many: NARTHEX_TEST_LONG=1.
const only = process.env["NARTHEX_TEST_SEED"]
const count = process.env["NARTHEX_TEST_LONG"] === "1" ? 100_000 : 2_000
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index) : [Number(only)]

const tell = (seed: number): Story => {
  try {
    return simulate(seed)
  } catch (cause) {
    throw new Error(`Seed ${seed}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

describe("event streams in simulated worlds", () => {
  it("keep order, scope, completeness and revocations, whatever happens", { timeout: 3_600_000 }, () => {
    const total = { events: 0, gaps: 0, overflows: 0, revoked: 0, connections: 0 }
    for (const seed of seeds) {
      const story = tell(seed)
      for (const key of ["events", "gaps", "overflows", "revoked", "connections"] as const) total[key] += story[key]
    }
    if (only !== undefined) return
    // A world in which nothing goes wrong would prove nothing.
    for (const happened of Object.values(total)) assert.isAbove(happened, count / 20, JSON.stringify(total))
  })

  it("are told again word by word by their seed", () => {
    assert.deepStrictEqual(simulate(42), simulate(42))
  })
})
