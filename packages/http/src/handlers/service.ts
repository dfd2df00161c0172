/** Serves `ServiceApi`: liveness and readiness. */
import { Api, UnavailableProblem } from "@narthex/api"
import { Regions } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Draining } from "../Draining.ts"

export const ServiceHandlers = HttpApiBuilder.group(
  Api,
  "service",
  Effect.fn(function* (handlers) {
    const draining = yield* Draining
    const regions = yield* Regions
    return handlers.handleAll({
      livez: () => Effect.succeed({ status: "ok" }),
      readyz: Effect.fnUntraced(function* () {
        if (draining.begun()) return yield* new UnavailableProblem({ detail: "The server is stopping." })
        // A read of one table fails while storage cannot be reached or is not migrated.
        yield* Effect.mapError(regions.list, () => new UnavailableProblem({ detail: "Storage cannot be reached." }))
        return { status: "ready" }
      })
    })
  })
)
