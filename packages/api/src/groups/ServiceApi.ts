/** The endpoints of liveness and readiness. */
import { anonymous } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { UnavailableProblem } from "../problems/Problems.ts"
import { endpointRules } from "../rules/endpointRules.ts"

const Status = Schema.Struct({ status: Schema.String })

export class ServiceApi extends HttpApiGroup.make("service")
  .add(
    HttpApiEndpoint.get("livez", "/livez", { success: Status }).annotateMerge(
      endpointRules(anonymous, "Check that the process is alive")
    ),
    HttpApiEndpoint.get("readyz", "/readyz", { success: Status, error: UnavailableProblem }).annotateMerge(
      endpointRules(anonymous, "Check that storage is reachable and migrated and the server is not stopping")
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Service", description: "Liveness and readiness." })) {}
