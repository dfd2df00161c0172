/**
 * A sample of the matrix over the API as a client of its own process: each answer of a call once, and successes and 404 once
 * for each object (`selection.ts`). The decisions are the server's; what could differ is how a request gets to them.
 */
import { describe, it } from "@effect/vitest"
import { layerMemoryPorts } from "@narthex/core"
import { Effect } from "effect"
import { authorizationApi, authorizationTests } from "./authorizationSuite.ts"

const api = authorizationApi(layerMemoryPorts, "direct")

describe("the matrix over the API within its process", () => {
  for (const { run, says } of authorizationTests("once"))
    it.live(`${says}, within the process`, () => Effect.provide(run, api))
})
