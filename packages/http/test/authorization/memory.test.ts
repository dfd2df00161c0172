/** Every cell of the matrix, always. Each row has a storage of its own: in-memory tables are read whole. */
import { describe, it } from "@effect/vitest"
import { layerMemoryPorts } from "@narthex/core"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { note } from "../../../../test/harness/note.ts"
import { authorizationApi, authorizationTests } from "./authorizationSuite.ts"

const api = authorizationApi(layerMemoryPorts)
let cells = 0

describe("the matrix over memory", () => {
  for (const { run, says } of authorizationTests("all"))
    it.live(says, () =>
      Effect.map(Effect.provide(run, api), (count) => {
        cells += count
      })
    )
  afterAll(() => note(`${cells} cells of the matrix ran over memory.`))
})
