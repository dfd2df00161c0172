/**
 * Steps 4 to 11 of the order of answers, for every endpoint with a credential policy: decide, replay, look up.
 *
 * It runs before the body is decoded, so a foreign project is answered before a bad body. Reads that a client may
 * combine with a stream get `Events-Cursor`, taken before the state is read (events.md, §11).
 */
import { PolicyCheck, policyOf } from "@narthex/api"
import { Authorization, EventLog, type PathIds, Principal, Target } from "@narthex/core"
import { Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { problems } from "../toProblem.ts"
import { replayed } from "./Idempotency.ts"
import { IdempotencyStore } from "@narthex/core"

const unsafe = new Set(["POST", "PATCH", "DELETE"])

const pathIds = (params: Readonly<Record<string, string | undefined>>): PathIds =>
  Object.fromEntries(Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

export const PolicyCheckLive = Layer.effect(
  PolicyCheck,
  Effect.gen(function* () {
    const authorization = yield* Authorization
    const idempotency = yield* IdempotencyStore
    const log = yield* EventLog

    return PolicyCheck.of(
      Effect.fnUntraced(function* (handler, { endpoint }) {
        const policy = policyOf(endpoint)
        if (policy?._tag !== "Credential")
          return yield* Effect.die(new Error(`${endpoint.path} has no credential policy.`))
        const caller = yield* Principal
        const request = yield* HttpServerRequest.HttpServerRequest
        const { params } = yield* HttpRouter.RouteContext
        // `…/api-keys/self` has no id in its path: the key that calls is the one that is meant.
        const self = endpoint.path === "/v1/api-keys/self" && caller.kind === "api_key" ? caller.api_key_id : undefined
        const ids = pathIds(self === undefined ? params : { ...params, api_key_id: self })

        yield* problems(authorization.admit(policy, caller, ids))
        const answer = Effect.gen(function* () {
          const found = yield* problems(authorization.find(policy, caller, ids))
          return yield* Effect.provideService(handler, Target, found)
        })
        if (unsafe.has(request.method)) return yield* replayed(idempotency, { caller, endpoint, request }, answer)
        if (policy.effect !== "read" || endpoint.path.endsWith("/events")) return yield* answer
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
