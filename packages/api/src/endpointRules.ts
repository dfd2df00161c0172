/**
 * What an endpoint declares beside its path and schemas, as annotations: exactly one policy, a summary, and the few
 * rules that the server applies by looking at them.
 */
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { type CredentialPolicy, EndpointPolicy, type Policy } from "@narthex/core"
import { markStrict } from "./openDocument.ts"

/** The answer shows a secret: `Cache-Control: no-store`, and a replay of it shows none. */
export const ShowsSecret = Context.Reference<boolean>("@narthex/api/ShowsSecret", { defaultValue: () => false })

/** Where the created thing can be read, for `Location`; `{branch.id}` is taken from the answer, `:name` from the path. */
export const LocatedAt = Context.Reference<string | undefined>("@narthex/api/LocatedAt", {
  defaultValue: () => undefined
})

/**
 * A member of the body that asks for more than the call alone does, and the policy that holds then: protecting a branch
 * is another thing than renaming it (docs/design/authorization.md, rows 22b and 24).
 */
export interface Raise {
  readonly member: string
  /** The values that ask for more; without them, any value but `null`. */
  readonly values?: ReadonlyArray<unknown>
  readonly policy: CredentialPolicy
}

export const RaisedBy = Context.Reference<Raise | undefined>("@narthex/api/RaisedBy", {
  defaultValue: () => undefined
})

/** Parts of `LocatedAt`, filled from the path's parameters and the answer's body. */
export const locationOf = (template: string, params: Record<string, string | undefined>, body: unknown): string =>
  template
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
    .replace(/\{([\w.]+)\}/g, (_, path: string) =>
      encodeURIComponent(
        String(path.split(".").reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), body))
      )
    )

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

export interface EndpointRules {
  /** Unknown members of the body are refused, because ignoring one could grant something. */
  readonly strictBody?: true
  readonly showsSecret?: true
  readonly locatedAt?: string
  readonly raisedBy?: Raise
}

const strictBody = Context.make(HttpApi.PayloadParseOptions, { errors: "all", onExcessProperty: "error" }).pipe(
  Context.add(OpenApi.Transform, markStrict)
)

/** The annotations of an endpoint. */
export const endpointRules = (policy: Policy, summary: string, rules: EndpointRules = {}): Context.Context<never> => {
  const base = Context.make(EndpointPolicy, policy).pipe(Context.add(OpenApi.Summary, summary))
  const body = rules.strictBody ? strictBody : Context.empty()
  const secret = rules.showsSecret ? Context.make(ShowsSecret, true) : Context.empty()
  const located = rules.locatedAt === undefined ? Context.empty() : Context.make(LocatedAt, rules.locatedAt)
  const raised = rules.raisedBy === undefined ? Context.empty() : Context.make(RaisedBy, rules.raisedBy)
  return Context.mergeAll(base, body, secret, located, raised)
}

/** The policy that holds for a body: the endpoint's own, or a stricter one that a member asks for. */
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

/** The policy of an endpoint; `undefined` must stop the server. */
export const policyOf = (endpoint: Pick<HttpApiEndpoint.Top, "annotations">): Policy | undefined =>
  Context.getOrUndefined(endpoint.annotations, EndpointPolicy)
