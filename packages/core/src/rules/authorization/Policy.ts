/**
 * The requirements of a call, as data. Every endpoint carries exactly one policy, or the server does not start.
 *
 * A policy names the effect of the call, not its method: a call that reveals a connection secret is a `mint` even
 * if it were a GET. The matrix of docs/design/authorization.md is these values and `decide`, nothing else.
 */
import { Context } from "effect"
import type { Permission } from "./Permission.ts"

/** The effect of a call. A capability of a key is a set of effects. */
export type CallEffect = "self" | "read" | "write" | "sandbox" | "destroy" | "mint" | "admin"

/** The narrowest scope of a key that still reaches the call, if the ids in the path lie inside it. */
export type Reach = "organization" | "project" | "branch"

/** The kind of object that the path names, which is looked up before the body is read. */
export type TargetKind =
  | "none"
  | "organization"
  | "member"
  | "webhook"
  | "api_key"
  | "project"
  | "branch"
  | "credential"
  | "endpoint"
  | "operation"

/**
 * The objects that agent keys may apply the call to: `not_main` excludes *main*; `made_by_agent` allows only branches
 * that an agent key created, and not *main*.
 */
export type AgentRule = "any" | "not_main" | "made_by_agent" | "never"

export interface CredentialPolicy {
  readonly _tag: "Credential"
  /** `session`: a key is refused (`session_required`), because only a person may do this. */
  readonly kind: "any" | "session"
  readonly effect: CallEffect
  readonly permission: Permission | null
  readonly target: TargetKind
  readonly reach: Reach
  /** The same, where the branch that the path names is *main* and that makes a difference. */
  readonly reach_main?: Reach
  readonly agent: AgentRule
  /** The same for the branch that the body names. The service decides by it, under the branch's lock. */
  readonly agent_named?: AgentRule
  /** Whether pending accounts pass too. */
  readonly pending: boolean
  /** Whether sessions of former members pass too. */
  readonly ex_member: boolean
}

export type Policy =
  | { readonly _tag: "Anonymous" }
  /** A session JWT, valid or expired, for refresh and logout. Their handlers verify it. */
  | { readonly _tag: "OwnToken" }
  /** A proxy token. The credential of a user is refused. */
  | { readonly _tag: "Proxy" }
  | CredentialPolicy

/** On which branches agents' keys may create an endpoint. The body names the branch. */
export const endpointsByAgents: AgentRule = "not_main"

/** The annotation that carries an endpoint's policy. */
export class EndpointPolicy extends Context.Service<EndpointPolicy, Policy>()(
  "@narthex/core/rules/authorization/EndpointPolicy"
) {}

/**
 * The policy that admitted the running call: the endpoint's own, or the stricter one that its body asked for. Services
 * decide by it again where the target may have changed since.
 */
export class AppliedPolicy extends Context.Service<AppliedPolicy, CredentialPolicy>()(
  "@narthex/core/rules/authorization/AppliedPolicy"
) {}

const base: CredentialPolicy = {
  _tag: "Credential",
  kind: "any",
  effect: "read",
  permission: "read",
  target: "none",
  reach: "branch",
  agent: "any",
  pending: false,
  ex_member: false
}

export const anonymous: Policy = { _tag: "Anonymous" }
export const ownToken: Policy = { _tag: "OwnToken" }
export const proxyOnly: Policy = { _tag: "Proxy" }

/** A read of what the path names; `reach` says down to which scope of a key. */
export const reads = (target: TargetKind, reach: Reach): CredentialPolicy => ({ ...base, target, reach })

/** A read of the caller's own data: passes for pending accounts and sessions of former members. */
export const self: CredentialPolicy = { ...base, effect: "self", permission: null, pending: true, ex_member: true }

/** A call that only a signed-in person may make. */
export const session = (rest: Partial<CredentialPolicy> = {}): CredentialPolicy => ({
  ...base,
  kind: "session",
  effect: "admin",
  permission: null,
  reach: "organization",
  agent: "never",
  ...rest
})

/** A call that changes something; agent keys are refused unless `rest` says otherwise. */
export const changes = (
  effect: Exclude<CallEffect, "self" | "read">,
  permission: Permission,
  target: TargetKind,
  rest: Partial<CredentialPolicy> = {}
): CredentialPolicy => ({ ...base, effect, permission, target, reach: "project", agent: "never", ...rest })
