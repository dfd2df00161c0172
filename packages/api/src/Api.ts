/**
 * The whole contract: every group, and what all of them share.
 *
 * Drop a line of `.add(…)` to leave a group out. Headers are decoded with the defaults, because a request always
 * carries some that no endpoint declares.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { ApiKeysApi, CredentialsApi } from "./ApiKeysApi.ts"
import { AuthApi } from "./AuthApi.ts"
import { BranchesApi } from "./BranchesApi.ts"
import { CliLoginApi } from "./CliLoginApi.ts"
import { EndpointsApi } from "./EndpointsApi.ts"
import { EventsApi } from "./EventsApi.ts"
import { InvitationsApi } from "./InvitationsApi.ts"
import { IpAllowlistApi } from "./IpAllowlistApi.ts"
import { allowUnknownMembers } from "./allowUnknownMembers.ts"
import { OperationsApi } from "./OperationsApi.ts"
import { OrganizationsApi } from "./OrganizationsApi.ts"
import { ProjectsApi } from "./ProjectsApi.ts"
import { ProxyApi } from "./ProxyApi.ts"
import { RegionsApi } from "./RegionsApi.ts"
import { SandboxesApi } from "./SandboxesApi.ts"
import { RateLimiting, ResponseHeaders } from "./endpointRules.ts"
import { SchemaErrors } from "./SchemaErrors.ts"
import { ServiceApi } from "./ServiceApi.ts"

export class Api extends HttpApi.make("narthex")
  .add(AuthApi)
  .add(ApiKeysApi)
  .add(CredentialsApi)
  .add(CliLoginApi)
  .add(RegionsApi)
  .add(ProjectsApi)
  .add(BranchesApi)
  .add(SandboxesApi)
  .add(EndpointsApi)
  .add(OperationsApi)
  .add(IpAllowlistApi)
  .add(OrganizationsApi)
  .add(InvitationsApi)
  .add(EventsApi)
  .add(ProxyApi)
  .add(ServiceApi)
  .middleware(SchemaErrors)
  .middleware(RateLimiting)
  .middleware(ResponseHeaders)
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(HttpApi.HeadersParseOptions, {})
  .annotateMerge(
    OpenApi.annotations({
      title: "Narthex",
      version: "1",
      description: "The control plane of a hosted Postgres platform.",
      transform: allowUnknownMembers
    })
  ) {}
