/** The public surface of the contract: re-exports, nothing else. */
export * from "./Api.ts"
export * from "./ApiKeysApi.ts"
export * from "./AuthApi.ts"
export * from "./Authentication.ts"
export * from "./BranchesApi.ts"
export * from "./clientAddress.ts"
export * from "./CliLoginApi.ts"
export * from "./EndpointsApi.ts"
export * from "./endpointRules.ts"
export * from "./EventsApi.ts"
export * from "./InvitationsApi.ts"
export * from "./IpAllowlistApi.ts"
export * from "./OperationsApi.ts"
export * from "./OrganizationsApi.ts"
export * from "./Paging.ts"
export * from "./PolicyCheck.ts"
export * from "./ProjectsApi.ts"
export * from "./Problems.ts"
export * from "./problemCatalog.ts"
export * from "./ProxyApi.ts"
export * from "./RegionsApi.ts"
export * from "./SandboxesApi.ts"
export * from "./SchemaErrors.ts"
export * from "./ScopeInput.ts"
export * from "./ServiceApi.ts"
export * from "./Shapes.ts"
export * from "./ClientCredential.ts"
export * from "./IdForms.ts"
export * from "./members.ts"
export * from "./NarthexClient.ts"
export * from "./OtherProblem.ts"
export * from "./SseParser.ts"
export * from "./Subscription.ts"
export {
  ActiveOrganization,
  ApiKeyId,
  BranchId,
  Capability,
  type Cidr,
  coversRole,
  contains,
  defaultPageSize,
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
  maxPageSize,
  Member,
  normalizeEmail,
  OperationId,
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
  Scope,
  SessionId,
  UserId,
  UserProfile,
  UserRef
} from "@narthex/core"
