/**
 * The annotations of an endpoint: exactly one policy, a summary, and every rule that the server applies to some endpoints
 * and not to others.
 *
 * The server never compares paths; it reads these annotations.
 */
import { type AuditAction, type CredentialPolicy, EndpointPolicy, type Policy } from "@narthex/core"
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint, HttpApiMiddleware, OpenApi } from "effect/http-api"
import { markStrict } from "./allowUnknownMembers.ts"

/**
 * The rate limits of endpoints, and what each counts by: the client's address, the session of the presented token, the
 * caller's user, or the caller (a user or an API key) and in addition its organization. The numbers are settings of the
 * server (docs/design/identity.md I44–I47).
 */
export const rateLimits = {
  exchange: "address",
  cli_exchange: "address",
  reports: "address",
  refresh: "session",
  key_creation: "user",
  organization_creation: "user",
  creation: "caller",
  invitation_creation: "caller",
  changes: "caller"
} as const satisfies Record<string, "address" | "session" | "user" | "caller">

export type RateLimitName = keyof typeof rateLimits

/**
 * The limit that a call of this endpoint counts against. Calls over the limit get 429 `rate_limited`. A changing call
 * that declares none counts against `changes`.
 */
export const RateLimitedBy = Context.Reference<RateLimitName | undefined>("@narthex/api/RateLimitedBy", {
  defaultValue: () => undefined
})

/**
 * The call ends something: it counts against the limit of its caller and not against the organization's, so that no
 * client's changes refuse another's revocation (docs/design/identity.md I44). Left out: a `DELETE` does.
 */
export const Ends = Context.Reference<boolean | undefined>("@narthex/api/Ends", { defaultValue: () => undefined })

/**
 * `Idempotency-Key` is ignored: answers are neither stored nor replayed. Set on the calls that issue or end sessions and
 * codes (docs/design/api.md, Resources, lists, retries, limits).
 */
export const NotReplayed = Context.Reference<boolean>("@narthex/api/NotReplayed", { defaultValue: () => false })

/** The path names no id: the target is the API key that calls. A session that calls has no such key, which is 404. */
export const TargetSelf = Context.Reference<boolean>("@narthex/api/TargetSelf", { defaultValue: () => false })

/** The answer is an event stream. It carries no `Events-Cursor`, because its frames carry ids. */
export const StreamsEvents = Context.Reference<boolean>("@narthex/api/StreamsEvents", { defaultValue: () => false })

/** The answer shows a secret: `Cache-Control: no-store`, and a replay of it shows none. */
export const ShowsSecret = Context.Reference<boolean>("@narthex/api/ShowsSecret", { defaultValue: () => false })

/** The template of `Location` for a created resource: `{branch.id}` is taken from the answer, `:name` from the path. */
export const LocatedAt = Context.Reference<string | undefined>("@narthex/api/LocatedAt", {
  defaultValue: () => undefined
})

/**
 * A member of the body that needs a stricter policy than the endpoint's own. Protecting a branch, for example, needs more
 * than renaming it (docs/design/authorization.md, rows 22b and 24).
 */
export interface Raise {
  readonly member: string
  /** The values that need the stricter policy; left out: every value but `null`. */
  readonly values?: ReadonlyArray<unknown>
  readonly policy: CredentialPolicy
}

export const RaisedBy = Context.Reference<Raise | undefined>("@narthex/api/RaisedBy", {
  defaultValue: () => undefined
})

/**
 * The name of the act in the audit log (docs/design/audit.md U2). A call of people and keys that is not a GET has one, or
 * the server does not start.
 */
export const AuditedAs = Context.Reference<AuditAction | undefined>("@narthex/api/AuditedAs", {
  defaultValue: () => undefined
})

/** Media types in which the endpoint answers in addition to JSON, where `Accept` asks for one. `Link` leads to the next page. */
export const AlsoAs = Context.Reference<ReadonlyArray<string>>("@narthex/api/AlsoAs", { defaultValue: () => [] })

/** Applies `RateLimitedBy` for limits by address, and counts failed authentications, which no endpoint declares. */
export class RateLimiting extends HttpApiMiddleware.Service<RateLimiting>()("@narthex/api/RateLimiting") {}

/** Applies `ShowsSecret` and `LocatedAt` to answers. */
export class ResponseHeaders extends HttpApiMiddleware.Service<ResponseHeaders>()("@narthex/api/ResponseHeaders") {}

/** Fills a `LocatedAt` template from the path's parameters and the answer's body. */
export const locationOf = (template: string, params: Record<string, string | undefined>, body: unknown): string =>
  template
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
    .replace(/\{([\w.]+)\}/g, (_, path: string) =>
      encodeURIComponent(
        String(path.split(".").reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), body))
      )
    )

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** The description of a successful answer, for the OpenAPI document; by status where there are several. */
export const Answer = Context.Reference<string | Readonly<Record<number, string>>>("@narthex/api/Answer", {
  defaultValue: () => ""
})

/** Options of `endpointRules`; each member is documented at its annotation. */
export interface EndpointRules {
  readonly summary: string
  /** The effect of the call. Its callers, limits and retries are described from the other members. */
  readonly text: string
  readonly answer: string | Readonly<Record<number, string>>
  /** Unknown members of the body are refused, because ignoring one could grant something. */
  readonly strictBody?: true
  readonly showsSecret?: true
  readonly locatedAt?: string
  readonly raisedBy?: Raise
  readonly limitedBy?: RateLimitName
  readonly ends?: boolean
  readonly act?: AuditAction
  readonly alsoAs?: ReadonlyArray<string>
  readonly notReplayed?: true
  readonly targetSelf?: true
  readonly streamsEvents?: true
}

const strictBody = Context.make(HttpApi.PayloadParseOptions, { errors: "all", onExcessProperty: "error" }).pipe(
  Context.add(OpenApi.Transform, markStrict)
)

/** The annotations of an endpoint. */
export const endpointRules = (policy: Policy, rules: EndpointRules): Context.Context<never> => {
  const base = Context.make(EndpointPolicy, policy).pipe(
    Context.add(OpenApi.Summary, rules.summary),
    Context.add(OpenApi.Description, rules.text),
    Context.add(Answer, rules.answer),
    Context.add(ShowsSecret, rules.showsSecret === true),
    Context.add(LocatedAt, rules.locatedAt),
    Context.add(RaisedBy, rules.raisedBy),
    Context.add(RateLimitedBy, rules.limitedBy),
    Context.add(Ends, rules.ends),
    Context.add(AuditedAs, rules.act),
    Context.add(AlsoAs, rules.alsoAs ?? []),
    Context.add(NotReplayed, rules.notReplayed === true),
    Context.add(TargetSelf, rules.targetSelf === true),
    Context.add(StreamsEvents, rules.streamsEvents === true)
  )
  return rules.strictBody ? Context.merge(base, strictBody) : base
}

/** The policy that applies to a body: the endpoint's own, or the stricter one that a member needs. */
export const policyFor = (
  endpoint: Pick<HttpApiEndpoint.Top, "annotations">,
  policy: CredentialPolicy,
  body: unknown
): CredentialPolicy => {
  const raise = Context.get(endpoint.annotations, RaisedBy)
  if (raise === undefined || !isRecord(body) || !Object.hasOwn(body, raise.member)) return policy
  const value = body[raise.member]
  const asks = raise.values === undefined ? value !== null : raise.values.includes(value)
  return asks ? raise.policy : policy
}

/** The limit of an endpoint: the one that it declares, or `changes` for a call of people and keys that is not a GET. */
export const limitOf = (endpoint: Pick<HttpApiEndpoint.Top, "annotations" | "method">): RateLimitName | undefined =>
  Context.get(endpoint.annotations, RateLimitedBy) ??
  (endpoint.method !== "GET" && policyOf(endpoint)?._tag === "Credential" ? "changes" : undefined)

/** Whether a call of the endpoint counts against its caller's limit alone. */
export const endsSomething = (endpoint: Pick<HttpApiEndpoint.Top, "annotations" | "method">): boolean =>
  Context.get(endpoint.annotations, Ends) ?? endpoint.method === "DELETE"

/** The policy of an endpoint. A server with an endpoint that has none must not start. */
export const policyOf = (endpoint: Pick<HttpApiEndpoint.Top, "annotations">): Policy | undefined =>
  Context.getOrUndefined(endpoint.annotations, EndpointPolicy)
