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
  it("starts of one person take at most each core, and copies half of them", () => {
    assert.deepStrictEqual(on(2), [2, 1])
    assert.deepStrictEqual(on(5), [5, 2])
    assert.deepStrictEqual(placesPerPerson(), placesPerPerson(availableParallelism()))
  })

  it("a person can always start two at once and copy one, and has at most the places of the defaults", () => {
    const { branches, computes } = defaultRunnerSettings.classes
    assert.deepStrictEqual(on(1), [2, 1])
    assert.deepStrictEqual(on(64), [computes.per_org, branches.per_org])
  })
})
