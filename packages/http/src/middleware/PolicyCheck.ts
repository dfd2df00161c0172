/**
 * Steps 4 to 11 of the order of answers, for every endpoint with a credential policy: decide, replay, look up.
 *
 * It runs before the body is decoded, so a foreign project is answered before a bad body; only a member that asks for
 * more rights than the call itself is looked at, because rights come before the look-up. Reads that a client may
 * combine with a stream get `Events-Cursor`, taken before the state is read (docs/design/events.md E27).
 */
import { PolicyCheck, policyFor, policyOf, RaisedBy } from "@narthex/api"
import { Authorization, EventLog, type PathIds, Principal, Target } from "@narthex/core"
import { Context, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Limits } from "../limits/Limits.ts"
import { problems } from "../toProblem.ts"
import { replayed } from "./Idempotency.ts"
import { IdempotencyStore } from "@narthex/core"

/** Each makes a key of the caller, at once or when the command line exchanges its code; counted per user. */
const createsKey = new Set(["/v1/api-keys", "/v1/api-keys/", "/v1/cli/authorizations"])

const unsafe = new Set(["POST", "PATCH", "DELETE"])

const pathIds = (params: Readonly<Record<string, string | undefined>>): PathIds =>
  Object.fromEntries(Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** Their answers, session tokens and codes, are never kept (docs/design/api.md, Resources, lists, retries, limits). */
const issuesTokens = /^\/v1\/(auth|cli)\//

/** The body as far as it can be read at all; what is wrong with it is answered where it is decoded. */
const peeked = (request: HttpServerRequest.HttpServerRequest) => Effect.orElseSucceed(request.json, () => undefined)

export const PolicyCheckLive = Layer.effect(
  PolicyCheck,
  Effect.gen(function* () {
    const authorization = yield* Authorization
    const idempotency = yield* IdempotencyStore
    const limits = yield* Limits
    const log = yield* EventLog

    return PolicyCheck.of(
      Effect.fnUntraced(function* (handler, { endpoint }) {
        const own = policyOf(endpoint)
        if (own?._tag !== "Credential")
          return yield* Effect.die(new Error(`${endpoint.path} has no credential policy.`))
        const caller = yield* Principal
        const request = yield* HttpServerRequest.HttpServerRequest
        const raisable = Context.get(endpoint.annotations, RaisedBy) !== undefined
        const policy = raisable ? policyFor(endpoint, own, yield* peeked(request)) : own
        const { params } = yield* HttpRouter.RouteContext
        // `…/api-keys/self` has no id in its path: the key that calls is the one that is meant.
        const self = endpoint.path === "/v1/api-keys/self" && caller.kind === "api_key" ? caller.api_key_id : undefined
        const ids = pathIds(self === undefined ? params : { ...params, api_key_id: self })

        yield* problems(authorization.admit(policy, caller, ids))
        const answer = Effect.gen(function* () {
          const found = yield* problems(authorization.find(policy, caller, ids))
          const counted = request.method === "POST" && createsKey.has(endpoint.path)
          const refused = counted ? yield* limits.take("key_creation", caller.user.id) : undefined
          return refused ?? (yield* Effect.provideService(handler, Target, found))
        })
        if (unsafe.has(request.method) && !issuesTokens.test(endpoint.path))
          return yield* replayed(idempotency, { caller, endpoint, request }, answer)
        if (unsafe.has(request.method) || policy.effect !== "read" || endpoint.path.endsWith("/events"))
          return yield* answer
        const cursor = yield* Effect.option(log.headOf(caller.org_id))
        const response = yield* answer
        return Option.match(cursor, {
          onNone: () => response,
          onSome: (id) => HttpServerResponse.setHeader(response, "events-cursor", id)
        })
      })
    )
  })
)
