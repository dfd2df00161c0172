/** How many starts and copies one person has at once on machines of different sizes. */
import { availableParallelism } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { defaultRunnerSettings } from "@narthex/core"
import { placesPerPerson } from "@narthex/local-postgres"

const on = (cores: number) => {
  const { branches, computes } = placesPerPerson(cores)
  return [computes.per_org, branches.per_org]
}

describe("places of a person", () => {
  it("one person starts a compute for each core at once, and copies a branch for each two", () => {
    assert.deepStrictEqual(on(4), [4, 2])
    assert.deepStrictEqual(on(7), [7, 3])
    assert.deepStrictEqual(placesPerPerson(), placesPerPerson(availableParallelism()))
  })

  it("a person has two of each on a small machine, and the places of the defaults on a large one", () => {
    const { branches, computes } = defaultRunnerSettings.classes
    assert.deepStrictEqual(on(1), [2, 2])
    assert.deepStrictEqual(on(64), [computes.per_org, branches.per_org])
  })
})
