/**
 * The matrix over memory: in the long form every cell, in the short form each answer of a call for each caller
 * (`selection.ts`). Each row has a storage of its own: in-memory tables are read whole.
 */
import { describe, it } from "@effect/vitest"
import { layerMemoryPorts } from "@narthex/core"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { long } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { authorizationApi, authorizationTests } from "./authorizationSuite.ts"

const api = authorizationApi(layerMemoryPorts)
let cells = 0

describe("the matrix over memory", () => {
  for (const { run, says } of authorizationTests(long ? "all" : "spread"))
    it.live(says, () =>
      Effect.map(Effect.provide(run, api), (count) => {
        cells += count
      })
    )
  afterAll(() => note(`${cells} cells of the matrix ran over memory.`))
})
