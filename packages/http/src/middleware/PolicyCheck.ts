/**
 * Steps 4 to 11 of docs/design/authorization.md Z6, for every endpoint with a credential policy: decide, replay, look up.
 *
 * It runs before the body is decoded, so a foreign project is answered before an invalid body. Only a member that needs a
 * stricter policy is read earlier, because rights come before the look-up. Reads that a client may combine with a stream
 * carry `Events-Cursor`, which is taken before the state is read (docs/design/events.md E27).
 */
import { NotReplayed, PolicyCheck, policyFor, policyOf, RaisedBy, StreamsEvents, TargetSelf } from "@narthex/api"
import {
  type AnyCaller,
  AppliedPolicy,
  Authorization,
  type CredentialPolicy,
  EventLog,
  type Found,
  IdempotencyStore,
  type NotFound,
  type PathIds,
  Principal,
  type Refused,
  type StorageError,
  Target,
  Transaction
} from "@narthex/core"
import { Context, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Limits } from "../limits/Limits.ts"
import { takePerCaller } from "../limits/takePerCaller.ts"
import { problems } from "../toProblem.ts"
import { replayed } from "./Idempotency.ts"
import { sharing } from "./sharing.ts"

const unsafe = new Set(["POST", "PATCH", "DELETE"])

const pathIds = (params: Readonly<Record<string, string | undefined>>): PathIds =>
  Object.fromEntries(Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** The body, or `undefined` when it is not JSON; that is answered where the body is decoded. */
const peeked = (request: HttpServerRequest.HttpServerRequest) => Effect.orElseSucceed(request.json, () => undefined)

export const layerPolicyCheck = Layer.effect(
  PolicyCheck,
  Effect.gen(function* () {
    const authorization = yield* Authorization
    const replays = { store: yield* IdempotencyStore, transaction: yield* Transaction }
    const limits = yield* Limits
    const log = yield* EventLog
    const heads = sharing<string, StorageError>()
    const projects = sharing<Found, Refused | NotFound | StorageError>()

    /** A read of a project by a person depends on nothing but the project and the organization: steps 10 and 11. */
    const find = (policy: CredentialPolicy, caller: AnyCaller, ids: PathIds) => {
      const found = authorization.find(policy, caller, ids)
      return policy.target === "project" && policy.effect === "read" && caller.kind === "session"
        ? projects(`${caller.org_id} ${ids.project_id}`, found)
        : found
    }

    return PolicyCheck.of(
      Effect.fnUntraced(function* (handler, { endpoint }) {
        const { annotations } = endpoint
        const own = policyOf(endpoint)
        if (own?._tag !== "Credential")
          return yield* Effect.die(new Error(`${endpoint.path} has no credential policy.`))
        const caller = yield* Principal
        const request = yield* HttpServerRequest.HttpServerRequest
        const raisable = Context.get(annotations, RaisedBy) !== undefined
        const policy = raisable ? policyFor(endpoint, own, yield* peeked(request)) : own
        const { params } = yield* HttpRouter.RouteContext
        const self = Context.get(annotations, TargetSelf) && caller.kind === "api_key" ? caller.api_key_id : undefined
        const ids = pathIds(self === undefined ? params : { ...params, api_key_id: self })

        yield* problems(authorization.admit(policy, caller, ids))
        const prepare = Effect.gen(function* () {
          const found = yield* problems(find(policy, caller, ids))
          const refused = yield* takePerCaller(limits, endpoint, caller)
          if (refused !== undefined) return Effect.succeed(refused)
          return handler.pipe(Effect.provideService(Target, found), Effect.provideService(AppliedPolicy, policy))
        })
        const answer = Effect.flatten(prepare)
        if (unsafe.has(request.method))
          return Context.get(annotations, NotReplayed)
            ? yield* answer
            : yield* replayed(replays, { caller, endpoint, request }, prepare)
        if (policy.effect !== "read" || Context.get(annotations, StreamsEvents)) return yield* answer
        const cursor = yield* Effect.option(heads(caller.org_id, log.headOf(caller.org_id)))
        const response = yield* answer
        return Option.match(cursor, {
          onNone: () => response,
          onSome: (id) => HttpServerResponse.setHeader(response, "events-cursor", id)
        })
      })
    )
  })
)
