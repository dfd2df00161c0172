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
      endpointRules(anonymous, {
        summary: "Check that the process is alive",
        text: "For supervisors: answers as long as the process can.",
        answer: "The process is alive."
      })
    ),
    HttpApiEndpoint.get("readyz", "/readyz", { success: Status, error: UnavailableProblem }).annotateMerge(
      endpointRules(anonymous, {
        summary: "Check that storage is reachable and migrated and the server is not stopping",
        text: "For load balancers: storage can be reached, migrations are done, and the server is not stopping.",
        answer: "The server takes requests."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Service", description: "Liveness and readiness." })) {}
