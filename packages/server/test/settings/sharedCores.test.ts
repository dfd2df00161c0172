/** How many operations of a class one person has at once, by what runs the computes. */
import { assert, describe, it } from "@effect/vitest"
import { defaultRunnerSettings, RunnerPolicy } from "@narthex/core"
import { Context, Effect, Layer } from "effect"
import { settleAddresses } from "../../src/addresses.ts"
import { layerReferences } from "../../src/references.ts"
import { load } from "./environment.ts"

/** How many starts and copies the organizations of one person have at once on three cores, with these variables. */
const placesWith = Effect.fnUntraced(function* (env: Record<string, string>) {
  const settings = yield* load(env)
  const addresses = yield* settleAddresses(settings)
  const references = yield* Layer.build(layerReferences(settings, addresses, { console: null, proxy: null }, 3))
  const { branches, computes } = Context.get(references, RunnerPolicy).classes
  return [computes.per_org, branches.per_org]
}, Effect.scoped)

const { branches, computes } = defaultRunnerSettings.classes

describe("the cores of a machine", () => {
  it.effect("local computes share them between people", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* placesWith({}), [3, 2])
    })
  )

  it.effect("computes that run elsewhere, or not at all, do not need them", () =>
    Effect.gen(function* () {
      const all = [computes.per_org, branches.per_org]
      const NARTHEX_STATIC_COMPUTES =
        '[{"address":"db.example:5432","admin_url":"postgresql://admin@db.example/postgres","tls":"verify"}]'
      assert.deepStrictEqual(yield* placesWith({ NARTHEX_COMPUTE: "static", NARTHEX_STATIC_COMPUTES }), all)
      assert.deepStrictEqual(yield* placesWith({ NARTHEX_COMPUTE: "memory" }), all)
    })
  )
})
