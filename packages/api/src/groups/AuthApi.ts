/** The endpoints of sign-in, sessions and whoami (docs/design/identity.md I15–I29). */
import {
  ActiveOrganization,
  ApiKeyId,
  anonymous,
  KeySet,
  NamedProject,
  OrganizationView,
  ownToken,
  ProviderView,
  Scope,
  SessionId,
  self,
  session,
  UserProfile
} from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  EmailNotAllowedProblem,
  InvalidTokenProblem,
  RateLimitedProblem,
  UnavailableProblem
} from "../problems/Problems.ts"
import { Authentication, OwnToken } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { includeOf } from "../schemas/Include.ts"
import { AnyOrgId, nullBefore, optionalNullable, Secret } from "../schemas/members.ts"
import { SessionAnswer } from "../schemas/SessionAnswer.ts"
import { OpenAccountState, OpenCapability } from "../schemas/Shapes.ts"

const at = Schema.DateTimeUtcFromString

/** `organization.role` is `null` and `permissions` empty after a lost membership. */
export const Whoami = Schema.Struct({
  kind: Schema.Union([Schema.Literals(["session", "api_key"]), Schema.String]),
  user: UserProfile,
  organization: ActiveOrganization,
  invited_by: nullBefore(UserProfile),
  account_state: OpenAccountState,
  capability: Schema.NullOr(OpenCapability),
  scope: Schema.NullOr(Scope),
  api_key: Schema.NullOr(Schema.Struct({ id: ApiKeyId, name: Schema.String, expires_at: Schema.NullOr(at) })),
  expires_at: Schema.NullOr(at),
  permissions: Schema.Array(Schema.String)
}).annotate({ identifier: "Whoami" })
export type Whoami = typeof Whoami.Type

/** The data that every page for a person needs. `projects` is there where the query asks for it. */
export const Account = Schema.Struct({
  user: UserProfile,
  organization: ActiveOrganization,
  invited_by: Schema.NullOr(UserProfile),
  permissions: Schema.Array(Schema.String),
  organizations: Schema.Array(OrganizationView),
  pending_invitations: Schema.Int,
  projects: Schema.optionalKey(Schema.Array(NamedProject))
}).annotate({ identifier: "Account" })
export type Account = typeof Account.Type

export const SessionRecord = Schema.Struct({
  id: SessionId,
  current: Schema.Boolean,
  provider: Schema.String,
  signed_in_at: at,
  last_refreshed_at: at,
  user_agent: Schema.NullOr(Schema.String),
  address: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Session" })

export const Exchange = Schema.Struct({
  id_token: Secret,
  provider: optionalNullable(Schema.String),
  nonce: optionalNullable(Schema.String)
})

/** The policy of a person's own sessions, also for pending accounts and former members. */
const ownSessions = session({ pending: true, ex_member: true })

export class AuthApi extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.post("switchOrg", "/v1/auth/switch-org", {
      payload: Schema.Struct({ org_id: AnyOrgId }),
      success: SessionAnswer
    }).annotateMerge(
      endpointRules(ownSessions, {
        summary: "Switch the session to another organization",
        act: "session.switched",
        text: "The session acts in the named organization from now on, and gets a new token for it.",
        answer: "The new session token.",
        showsSecret: true,
        notReplayed: true
      })
    ),
    HttpApiEndpoint.get("whoami", "/v1/auth/whoami", { success: Whoami }).annotateMerge(
      endpointRules(self, {
        summary: "Show the caller and its rights",
        text: "Every credential may call it, also that of a pending account.",
        answer: "The caller, and the permissions of the credential."
      })
    ),
    HttpApiEndpoint.get("account", "/v1/account", {
      query: { include: includeOf("projects") },
      success: Account
    }).annotateMerge(
      endpointRules(session({ effect: "read", permission: "read" }), {
        summary: "Show the person with the organizations and what waits for them",
        text: "What a page of the person begins with, in one call: the organizations, oldest first (at most 200), and how many invitations are pending (100 at most are counted). `include=projects` adds the names of the newest 100 projects of the organization.",
        answer: "The person, the organization that the session acts in, and the others."
      })
    ),
    HttpApiEndpoint.get("sessions", "/v1/auth/sessions", {
      success: Schema.Struct({ sessions: Schema.Array(SessionRecord) })
    }).annotateMerge(
      endpointRules(ownSessions, {
        summary: "List the caller's sessions",
        text: "The newest 1,000 sign-ins of the person who calls.",
        answer: "The sessions."
      })
    ),
    HttpApiEndpoint.delete("endSession", "/v1/auth/sessions/:session_id", {
      params: { session_id: SessionId },
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(ownSessions, {
        summary: "End one of the caller's sessions",
        act: "session.ended",
        text: "Its token is refused from now on, on every instance. API keys stay valid.",
        answer: "The session has ended.",
        notReplayed: true
      })
    ),
    HttpApiEndpoint.get("clientAddress", "/v1/client-address", {
      success: Schema.Struct({ address: Schema.String })
    }).annotateMerge(
      endpointRules(self, {
        summary: "Show the caller's address as an allowlist sees it",
        text: "The address that the caller's request comes from, behind the load balancers that the operator trusts.",
        answer: "The address."
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .add(
    HttpApiEndpoint.post("refresh", "/v1/auth/refresh", {
      success: SessionAnswer,
      error: EmailNotAllowedProblem
    })
      .middleware(OwnToken)
      .annotateMerge(
        endpointRules(ownToken, {
          summary: "Issue a new session token for a valid or expired one",
          text: "For 12 hours after the sign-in a session gets new tokens, also when the one that is sent has expired.",
          answer: "The new session token.",
          showsSecret: true,
          limitedBy: "refresh",
          notReplayed: true
        })
      ),
    HttpApiEndpoint.post("logout", "/v1/auth/logout", { success: HttpApiSchema.NoContent })
      .middleware(OwnToken)
      .annotateMerge(
        endpointRules(ownToken, {
          summary: "End the session; its API keys stay valid",
          text: "Takes a session token that is valid or has expired.",
          answer: "The session has ended.",
          notReplayed: true
        })
      ),
    HttpApiEndpoint.get("providers", "/v1/auth/providers", {
      success: Schema.Struct({
        providers: Schema.Array(ProviderView),
        console_url: Schema.NullOr(Schema.String)
      }),
      error: [RateLimitedProblem, UnavailableProblem]
    }).annotateMerge(
      endpointRules(anonymous, {
        summary: "List the identity providers and the address of the console",
        text: "What a sign-in page needs. It needs no credential.",
        answer: "The providers, and the origin of the console."
      })
    ),
    HttpApiEndpoint.post("exchange", "/v1/auth/exchange", {
      payload: Exchange,
      success: SessionAnswer,
      error: [InvalidTokenProblem, EmailNotAllowedProblem, RateLimitedProblem, UnavailableProblem]
    }).annotateMerge(
      endpointRules(anonymous, {
        summary: "Sign in with an id token of a provider",
        text: "Turns the id token of an identity provider into a session. The first sign-in creates the account and its personal organization, and accepts an only open invitation.",
        answer: "The session token.",
        showsSecret: true,
        limitedBy: "exchange",
        notReplayed: true
      })
    ),
    HttpApiEndpoint.get("jwks", "/.well-known/jwks.json", {
      success: KeySet,
      error: [RateLimitedProblem, UnavailableProblem]
    }).annotateMerge(
      endpointRules(anonymous, {
        summary: "List the public keys of session tokens",
        text: "With these keys other services verify session tokens.",
        answer: "The public keys."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Authentication", description: "Sign-in, sessions, who is calling." })) {}
