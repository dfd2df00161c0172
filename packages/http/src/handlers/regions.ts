/** Serves `RegionsApi` from the core. */
import { Api } from "@narthex/api"
import { Regions } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"

export const RegionsHandlers = HttpApiBuilder.group(
  Api,
  "regions",
  Effect.fn(function* (handlers) {
    const regions = yield* Regions
    return handlers.handleAll({
      list: () => Effect.map(problems(regions.list), (list) => ({ regions: list }))
    })
  })
)
