/** The public surface of the package: re-exports only. */

export {
  ActiveOrganization,
  AllowlistChange,
  ApiKeyId,
  AuditOutcome,
  auditActions,
  BranchId,
  Capability,
  type Cidr,
  contains,
  coversRole,
  defaultPageSize,
  EndpointChange,
  EndpointId,
  Envelope,
  EventData,
  InvitationId,
  IpRule,
  isFinal,
  isKeySecret,
  isLoopbackRedirect,
  knownRoles,
  MalformedCidr,
  Member,
  makeSigningSecret,
  maxPageSize,
  NamedBranch,
  NamedProject,
  normalizeEmail,
  OfferedSize,
  OperationAction,
  OperationId,
  OperationStatus,
  OrganizationView,
  OrgId,
  Permission,
  ProjectId,
  ProviderView,
  parseCidr,
  parseCidrOrAddress,
  Region,
  RegionId,
  RulesInForce,
  resemblesKeySecret,
  Scope,
  SessionId,
  SuspendTimeout,
  signedHeaders,
  UserId,
  UserProfile,
  UserRef,
  WebhookId,
  webhookBody
} from "@narthex/core"
export * from "./Api.ts"
export * from "./audit/auditExport.ts"
export * from "./client/ApiCalls.ts"
export * from "./client/ClientCredential.ts"
export type { ClientSession } from "./client/ClientSession.ts"
export type { ClientSettings, NarthexCalls } from "./client/makeClient.ts"
export * from "./client/NarthexClient.ts"
export { type Page, PageRepeated, pages } from "./client/pages.ts"
export type * as Answers from "./client/promises/answers.ts"
export * from "./client/promises/createClient.ts"
export type {
  ClientEvent,
  ClientItem,
  Following,
  FollowOptions,
  OperationAnswer,
  OperationClient
} from "./client/promises/following.ts"
export { problemOfClient } from "./client/promises/givenOptions.ts"
export * from "./client/promises/isErrorOf.ts"
export type * from "./client/promises/Method.ts"
export type * from "./client/promises/PromiseClient.ts"
export { defaultRetries, type RetrySettings } from "./client/retries.ts"
export { makeSessionKeeper, type SessionKeeper } from "./client/SessionKeeper.ts"
export * from "./client/SseParser.ts"
export * from "./client/Subscription.ts"
export { type AwaitedOperation, OperationPending, type WaitOptions } from "./client/waitFor.ts"
export * from "./groups/ApiKeysApi.ts"
export * from "./groups/AuditApi.ts"
export * from "./groups/AuthApi.ts"
export * from "./groups/BranchesApi.ts"
export * from "./groups/CliLoginApi.ts"
export * from "./groups/EndpointsApi.ts"
export * from "./groups/EventsApi.ts"
export * from "./groups/InvitationsApi.ts"
export * from "./groups/IpAllowlistApi.ts"
export * from "./groups/OperationsApi.ts"
export * from "./groups/OrganizationsApi.ts"
export * from "./groups/OwnInvitationsApi.ts"
export * from "./groups/ProjectsApi.ts"
export * from "./groups/ProxyApi.ts"
export * from "./groups/RegionsApi.ts"
export * from "./groups/SandboxesApi.ts"
export * from "./groups/ServiceApi.ts"
export * from "./groups/WebhooksApi.ts"
export { openApiDocument } from "./openapi/openApiDocument.ts"
export * from "./problems/NarthexError.ts"
export * from "./problems/OtherProblem.ts"
export * from "./problems/Problems.ts"
export { place, siteOf } from "./problems/placing.ts"
export * from "./problems/problemCatalog.ts"
export * from "./rules/Authentication.ts"
export * from "./rules/endpointRules.ts"
export * from "./rules/PolicyCheck.ts"
export * from "./rules/SchemaErrors.ts"
export * from "./schemas/clientAddress.ts"
export * from "./schemas/endpointSizeText.ts"
export * from "./schemas/IdForms.ts"
export * from "./schemas/Include.ts"
export * from "./schemas/members.ts"
export * from "./schemas/Paging.ts"
export * from "./schemas/ScopeInput.ts"
export * from "./schemas/SessionAnswer.ts"
export * from "./schemas/Shapes.ts"
export * from "./schemas/sizeText.ts"
