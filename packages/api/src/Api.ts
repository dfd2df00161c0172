/**
 * The whole contract: every group, and the middleware and options that all of them share.
 *
 * To leave a group out, remove its `.add(…)`.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { ApiKeysApi, CredentialsApi } from "./groups/ApiKeysApi.ts"
import { AuditApi } from "./groups/AuditApi.ts"
import { AuthApi } from "./groups/AuthApi.ts"
import { BranchesApi } from "./groups/BranchesApi.ts"
import { CliLoginApi } from "./groups/CliLoginApi.ts"
import { EndpointsApi } from "./groups/EndpointsApi.ts"
import { EventsApi } from "./groups/EventsApi.ts"
import { InvitationsApi } from "./groups/InvitationsApi.ts"
import { IpAllowlistApi } from "./groups/IpAllowlistApi.ts"
import { OperationsApi } from "./groups/OperationsApi.ts"
import { OrganizationsApi } from "./groups/OrganizationsApi.ts"
import { OwnInvitationsApi } from "./groups/OwnInvitationsApi.ts"
import { ProjectsApi } from "./groups/ProjectsApi.ts"
import { ProxyApi } from "./groups/ProxyApi.ts"
import { RegionsApi } from "./groups/RegionsApi.ts"
import { SandboxesApi } from "./groups/SandboxesApi.ts"
import { ServiceApi } from "./groups/ServiceApi.ts"
import { WebhooksApi } from "./groups/WebhooksApi.ts"
import { allowUnknownMembers } from "./rules/allowUnknownMembers.ts"
import { withSharedRules } from "./rules/sharedRules.ts"

export class Api extends withSharedRules(
  HttpApi.make("narthex")
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
    .add(OwnInvitationsApi)
    .add(AuditApi)
    .add(WebhooksApi)
    .add(EventsApi)
    .add(ProxyApi)
    .add(ServiceApi)
).annotateMerge(
  OpenApi.annotations({
    title: "Narthex",
    version: "1",
    description: "The control plane of a hosted Postgres platform.",
    transform: allowUnknownMembers
  })
) {}
