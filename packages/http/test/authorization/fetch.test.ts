/**
 * A sample of the matrix over the API as a function, without a socket: each answer of a call once, and successes and 404
 * once for each object (`selection.ts`). The decisions are the server's; what could differ is how a request gets to them.
 */
import { describe, it } from "@effect/vitest"
import { layerMemoryPorts } from "@narthex/core"
import { Effect } from "effect"
import { authorizationApi, authorizationTests } from "./authorizationSuite.ts"

const api = authorizationApi(layerMemoryPorts, "fetch")

describe("the matrix over the API as a function", () => {
  for (const { run, says } of authorizationTests("once"))
    it.live(`${says}, as a function`, () => Effect.provide(run, api))
})
