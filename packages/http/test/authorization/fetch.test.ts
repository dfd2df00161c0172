/**
 * A sample of the matrix over the API as a function, without a socket, and as a handler of Node on a server of the test:
 * each answer of a call once, and successes and 404 once for each object (`selection.ts`). The decisions are the server's;
 * what could differ is how a request gets to them. In the short form the handler has every fourth row: it hands each
 * request to the function.
 */
import { describe, it } from "@effect/vitest"
import { layerMemoryPorts } from "@narthex/core"
import { Effect } from "effect"
import { long } from "../../../../test/harness/long.ts"
import { authorizationApi, authorizationTests } from "./authorizationSuite.ts"

const asFunction = authorizationApi(layerMemoryPorts, "fetch")
const asHandler = authorizationApi(layerMemoryPorts, "node")

describe("the matrix over the API as a function", () => {
  for (const { run, says } of authorizationTests("once"))
    it.live(`${says}, as a function`, () => Effect.provide(run, asFunction))
})

describe("the matrix over the API as a handler of Node", () => {
  for (const { run, says } of authorizationTests("once").filter((_, at) => long || at % 4 === 0))
    it.live(`${says}, as a handler of Node`, () => Effect.provide(run, asHandler))
})
