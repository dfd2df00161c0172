// Generated from the contract, packages/api/src/groups/, by scripts/docs.ts: change it there.
/** The type of the promise client: its calls by their groups. */
import type * as Answers from "./answers.ts"
import type { Following, OperationClient } from "./following.ts"
import type { Method } from "./Method.ts"

/** Sign-in, sessions, who is calling. */
export type AuthCalls = {
  /** Switch the session to another organization. */
  readonly switchOrg: Method<"auth", "switchOrg", Answers.SessionAnswer>
  /** Show the caller and its rights. */
  readonly whoami: Method<"auth", "whoami", Answers.Whoami>
  /** Show the person with the organizations and what waits for them. */
  readonly account: Method<"auth", "account", Answers.Account>
  /** List the caller's sessions. */
  readonly sessions: Method<"auth", "sessions", Answers.AuthSessionsAnswer>
  /** End one of the caller's sessions. */
  readonly endSession: Method<"auth", "endSession", void>
  /** Show the caller's address as an allowlist sees it. */
  readonly clientAddress: Method<"auth", "clientAddress", Answers.AuthClientAddressAnswer>
  /** Issue a new session token for a valid or expired one. */
  readonly refresh: Method<"auth", "refresh", Answers.SessionAnswer>
  /** End the session; its API keys stay valid. */
  readonly logout: Method<"auth", "logout", void>
  /** List the identity providers and the address of the console. */
  readonly providers: Method<"auth", "providers", Answers.AuthProvidersAnswer>
  /** Sign in with an id token of a provider. */
  readonly exchange: Method<"auth", "exchange", Answers.SessionAnswer>
  /** List the public keys of session tokens. */
  readonly jwks: Method<"auth", "jwks", Answers.AuthJwksAnswer>
}

/** Keys act with their creator's identity. */
export type ApiKeysCalls = {
  /** List API keys. */
  readonly list: Method<"apiKeys", "list", Answers.ApiKeysListAnswer>
  /** Create an API key; its secret is shown once. */
  readonly create: Method<"apiKeys", "create", Answers.ApiKeysCreateAnswer>
  /** List API keys. */
  readonly listBare: Method<"apiKeys", "listBare", Answers.ApiKeysListAnswer>
  /** Create an API key; its secret is shown once. */
  readonly createBare: Method<"apiKeys", "createBare", Answers.ApiKeysCreateAnswer>
  /** Revoke the key that calls. */
  readonly revokeSelf: Method<"apiKeys", "revokeSelf", void>
  /** Read an API key. */
  readonly get: Method<"apiKeys", "get", Answers.ApiKeysGetAnswer>
  /** Revoke an API key. */
  readonly revoke: Method<"apiKeys", "revoke", void>
  /** Give the key a new secret; the old one expires after grace_seconds. */
  readonly rotate: Method<"apiKeys", "rotate", Answers.ApiKeysCreateAnswer>
}

/** Reports of leaked secrets. */
export type CredentialsCalls = {
  /** Report a leaked key, which revokes it. */
  readonly report: Method<"credentials", "report", void>
}

/** The loopback login of the command line. */
export type CliCalls = {
  /** Authorize a command line to get an API key. */
  readonly authorize: Method<"cli", "authorize", Answers.CliAuthorizeAnswer>
  /** Exchange the code of the loopback redirect for an API key. */
  readonly exchange: Method<"cli", "exchange", Answers.ApiKeysCreateAnswer>
}

/** Where projects can be created. */
export type RegionsCalls = {
  /** List the active regions. */
  readonly list: Method<"regions", "list", Answers.RegionsListAnswer>
}

/** Storage and compute in one region. */
export type ProjectsCalls = {
  /** List the projects that the credential may read. */
  readonly list: Method<"projects", "list", Answers.ProjectsListAnswer>
  /** Create a project with its default branch and endpoint. */
  readonly create: Method<"projects", "create", Answers.ProjectsCreateAnswer>
  /** Read a project. */
  readonly get: Method<"projects", "get", Answers.ProjectsGetAnswer>
  /** Rename a project. */
  readonly rename: Method<"projects", "rename", Answers.ProjectsGetAnswer>
  /** Delete a project and everything in it. */
  readonly delete: Method<"projects", "delete", Answers.ProjectsDeleteAnswer>
  /** Read a project with what is in it. */
  readonly overview: Method<"projects", "overview", Answers.ProjectOverview>
}

/** Copies of a project's data. */
export type BranchesCalls = {
  /** List branches. */
  readonly list: Method<"branches", "list", Answers.BranchesListAnswer>
  /** Create a branch. */
  readonly create: Method<"branches", "create", Answers.BranchesCreateAnswer>
  /** Read a branch. */
  readonly get: Method<"branches", "get", Answers.BranchesGetAnswer>
  /** Rename or protect a branch, or change when it expires. */
  readonly change: Method<"branches", "change", Answers.BranchesGetAnswer>
  /** Delete a branch. */
  readonly delete: Method<"branches", "delete", Answers.ProjectsDeleteAnswer>
  /** Reset the branch to the current state of its parent. */
  readonly reset: Method<"branches", "reset", Answers.BranchesResetAnswer>
  /** Make the branch the default branch of the project. */
  readonly setDefault: Method<"branches", "setDefault", Answers.BranchesResetAnswer>
  /** Mint a Postgres role on the branch; its password is shown once. */
  readonly mint: Method<"branches", "mint", Answers.BranchesMintAnswer>
  /** List the Postgres roles of the branch that the caller may revoke. */
  readonly credentials: Method<"branches", "credentials", Answers.BranchesCredentialsAnswer>
  /** Revoke a Postgres role of the branch and end its sessions. */
  readonly revokeCredential: Method<"branches", "revokeCredential", void>
}

/** Short-lived branches for agents. */
export type SandboxesCalls = {
  /** Create a sandbox. */
  readonly create: Method<"sandboxes", "create", Answers.SandboxesCreateAnswer>
}

/** The host names that Postgres clients connect to. */
export type EndpointsCalls = {
  /** List the sizes of endpoints. */
  readonly sizes: Method<"endpoints", "sizes", Answers.EndpointsSizesAnswer>
  /** List endpoints. */
  readonly list: Method<"endpoints", "list", Answers.EndpointsListAnswer>
  /** Create an endpoint. */
  readonly create: Method<"endpoints", "create", Answers.EndpointsCreateAnswer>
  /** Read an endpoint. */
  readonly get: Method<"endpoints", "get", Answers.EndpointsGetAnswer>
  /** Disable an endpoint, or change its size or suspend timeout. */
  readonly change: Method<"endpoints", "change", Answers.EndpointsCreateAnswer>
  /** Delete an endpoint. */
  readonly delete: Method<"endpoints", "delete", Answers.ProjectsDeleteAnswer>
  /** Start the compute of an endpoint. */
  readonly start: Method<"endpoints", "start", Answers.EndpointsCreateAnswer>
  /** Suspend the compute of an endpoint. */
  readonly suspend: Method<"endpoints", "suspend", Answers.EndpointsCreateAnswer>
}

/** Work that takes time. */
export type OperationsCalls = {
  /** List operations. */
  readonly list: Method<"operations", "list", Answers.OperationsListAnswer>
  /** Read an operation, or wait until it ends. */
  readonly get: Method<"operations", "get", Answers.OperationsGetAnswer>
  /** Cancel an operation. */
  readonly cancel: Method<"operations", "cancel", Answers.OperationsGetAnswer>
}

/** Networks that may reach a project. */
export type IpAllowCalls = {
  /** List the rules in force. */
  readonly list: Method<"ipAllow", "list", Answers.RulesInForce>
  /** Add a network. */
  readonly add: Method<"ipAllow", "add", Answers.ReplacedIpRule | Answers.IpRule>
  /** Remove every network, which opens the project to all addresses. */
  readonly reset: Method<"ipAllow", "reset", void>
  /** Check whether an address may connect. */
  readonly check: Method<"ipAllow", "check", Answers.IpAllowCheckAnswer>
  /** List the last clients that were refused. */
  readonly refusals: Method<"ipAllow", "refusals", Answers.IpAllowRefusalsAnswer>
  /** Remove a network. */
  readonly remove: Method<"ipAllow", "remove", void>
  /** Remove a network whose slash is not encoded. */
  readonly removeSplit: Method<"ipAllow", "removeSplit", void>
}

/** Organizations and members. */
export type OrgsCalls = {
  /** List the caller's organizations. */
  readonly list: Method<"orgs", "list", Answers.OrgsListAnswer>
  /** Create a team organization. */
  readonly create: Method<"orgs", "create", Answers.OrgsCreateAnswer>
  /** Read the organization. */
  readonly get: Method<"orgs", "get", Answers.OrgsCreateAnswer>
  /** Rename the organization. */
  readonly rename: Method<"orgs", "rename", Answers.OrgsCreateAnswer>
  /** Delete the organization. */
  readonly delete: Method<"orgs", "delete", void>
  /** Show what the organization holds of its quotas. */
  readonly usage: Method<"orgs", "usage", Answers.OrgsUsageAnswer>
  /** List the members. */
  readonly members: Method<"orgs", "members", Answers.OrgsMembersAnswer>
  /** Change a member's role. */
  readonly changeMember: Method<"orgs", "changeMember", Answers.OrgsChangeMemberAnswer>
  /** Remove a member, or leave. */
  readonly removeMember: Method<"orgs", "removeMember", void>
  /** Show the keys and credentials that end with the membership. */
  readonly holdings: Method<"orgs", "holdings", Answers.OrgsHoldingsAnswer>
}

/** People who may join the organization. */
export type InvitationsCalls = {
  /** List invitations. */
  readonly list: Method<"invitations", "list", Answers.InvitationsListAnswer>
  /** Invite an email address for seven days. */
  readonly invite: Method<"invitations", "invite", Answers.InvitationsInviteAnswer>
  /** Renew an invitation for seven days. */
  readonly resend: Method<"invitations", "resend", Answers.InvitationsInviteAnswer>
  /** Revoke an invitation. */
  readonly revoke: Method<"invitations", "revoke", void>
}

/** Organizations that invite the caller. */
export type OwnInvitationsCalls = {
  /** List the caller's pending invitations. */
  readonly list: Method<"ownInvitations", "list", Answers.OwnInvitationsListAnswer>
  /** Accept an invitation. */
  readonly accept: Method<"ownInvitations", "accept", Answers.OrgsCreateAnswer>
  /** Decline an invitation. */
  readonly decline: Method<"ownInvitations", "decline", void>
}

/** Acts of people, API keys and the operator, for owners and admins. */
export type AuditCalls = {
  /** List the audit log. */
  readonly list: Method<"audit", "list", Answers.AuditListAnswer>
}

/** Where the events of an organization are delivered. */
export type WebhooksCalls = {
  /** List webhooks. */
  readonly list: Method<"webhooks", "list", Answers.WebhooksListAnswer>
  /** Create a webhook; its signing secret is shown once. */
  readonly create: Method<"webhooks", "create", Answers.WebhooksCreateAnswer>
  /** Read a webhook. */
  readonly get: Method<"webhooks", "get", Answers.WebhooksGetAnswer>
  /** Change the URL, label or types of a webhook. */
  readonly update: Method<"webhooks", "update", Answers.WebhooksGetAnswer>
  /** Delete a webhook. */
  readonly delete: Method<"webhooks", "delete", void>
  /** Give the webhook a new signing secret. */
  readonly rotateSecret: Method<"webhooks", "rotateSecret", Answers.WebhooksCreateAnswer>
  /** Deliver an event of the type webhook.test.v1. */
  readonly test: Method<"webhooks", "test", Answers.WebhooksGetAnswer>
  /** Go on at once, from where the webhook is or from another position. */
  readonly replay: Method<"webhooks", "replay", Answers.WebhooksGetAnswer>
  /** List the attempts of a webhook. */
  readonly deliveries: Method<"webhooks", "deliveries", Answers.WebhooksDeliveriesAnswer>
}

/**
 * Server-sent events and their history. A program that embeds the control plane may publish types of its own, with the
 * source `host`. Clients ignore types and members that they do not know.
 */
export type EventsCalls = {
  /** Stream the events of the organization. */
  readonly stream: Method<"events", "stream", ReadableStream<Uint8Array>>
  /** List past events of the organization. */
  readonly history: Method<"events", "history", Answers.EventsHistoryAnswer>
  /** Stream the events of a project. */
  readonly projectStream: Method<"events", "projectStream", ReadableStream<Uint8Array>>
  /** List past events of a project. */
  readonly projectHistory: Method<"events", "projectHistory", Answers.EventsHistoryAnswer>
}

/** For proxies only. */
export type ProxyCalls = {
  /** Resolve an endpoint and a role. */
  readonly resolve: Method<"proxy", "resolve", Answers.ProxyResolveAnswer>
  /** List the allowlists of projects; projects that do not exist are left out. */
  readonly allowlists: Method<"proxy", "allowlists", Answers.ProxyAllowlistsAnswer>
  /** Stream the changes of allowlists and endpoints. */
  readonly changes: Method<"proxy", "changes", ReadableStream<Uint8Array>>
  /** Start the compute of an endpoint for a client on the allowlist. */
  readonly wake: Method<"proxy", "wake", Answers.ProxyWakeAnswer>
  /** Hand a cancel request to the proxy that has its session. */
  readonly cancel: Method<"proxy", "cancel", void>
  /** Report the use of computes, so that idle computes are suspended. */
  readonly activity: Method<"proxy", "activity", void>
  /** Report the clients that the allowlist refused. */
  readonly refusals: Method<"proxy", "refusals", void>
}

/** Liveness and readiness. */
export type ServiceCalls = {
  /** Check that the process is alive. */
  readonly livez: Method<"service", "livez", Answers.ServiceLivezAnswer>
  /** Check that storage is reachable and migrated and the server is not stopping. */
  readonly readyz: Method<"service", "readyz", Answers.ServiceLivezAnswer>
}

/** The client with promises: every call of the contract, and what follows over time. */
export type Client = {
  /** Sign-in, sessions, who is calling. */
  readonly auth: AuthCalls
  /** Keys act with their creator's identity. */
  readonly apiKeys: ApiKeysCalls
  /** Reports of leaked secrets. */
  readonly credentials: CredentialsCalls
  /** The loopback login of the command line. */
  readonly cli: CliCalls
  /** Where projects can be created. */
  readonly regions: RegionsCalls
  /** Storage and compute in one region. */
  readonly projects: ProjectsCalls
  /** Copies of a project's data. */
  readonly branches: BranchesCalls
  /** Short-lived branches for agents. */
  readonly sandboxes: SandboxesCalls
  /** The host names that Postgres clients connect to. */
  readonly endpoints: EndpointsCalls
  /** Work that takes time. */
  readonly operations: OperationsCalls & OperationClient
  /** Networks that may reach a project. */
  readonly ipAllow: IpAllowCalls
  /** Organizations and members. */
  readonly orgs: OrgsCalls
  /** People who may join the organization. */
  readonly invitations: InvitationsCalls
  /** Organizations that invite the caller. */
  readonly ownInvitations: OwnInvitationsCalls
  /** Acts of people, API keys and the operator, for owners and admins. */
  readonly audit: AuditCalls
  /** Where the events of an organization are delivered. */
  readonly webhooks: WebhooksCalls
  /**
   * Server-sent events and their history. A program that embeds the control plane may publish types of its own, with
   * the source `host`. Clients ignore types and members that they do not know.
   */
  readonly events: EventsCalls & Following
  /** For proxies only. */
  readonly proxy: ProxyCalls
  /** Liveness and readiness. */
  readonly service: ServiceCalls
}
