/** The endpoint of regions in which projects can be created. The list is never paged. */
import { Region, reads } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"

export class RegionsApi extends HttpApiGroup.make("regions")
  .add(
    HttpApiEndpoint.get("list", "/v1/regions", {
      success: Schema.Struct({ regions: Schema.Array(Region) })
    }).annotateMerge(
      endpointRules(reads("none", "branch"), {
        summary: "List the active regions",
        text: "The regions in which projects can be created now.",
        answer: "The regions."
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Regions", description: "Where projects can be created." })) {}
