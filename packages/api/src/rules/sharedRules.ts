/**
 * Rules of all groups of the contract: middleware, and how strictly requests are read.
 *
 * Unknown headers are ignored, because every request carries headers that no endpoint declares.
 */
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { RateLimiting, ResponseHeaders } from "./endpointRules.ts"
import { SchemaErrors } from "./SchemaErrors.ts"

export const withSharedRules = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<"narthex", Groups>) =>
  api
    .middleware(SchemaErrors)
    .middleware(RateLimiting)
    .middleware(ResponseHeaders)
    .annotate(HttpApi.ParseOptions, { errors: "all" })
    .annotate(HttpApi.HeadersParseOptions, {})
