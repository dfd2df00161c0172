/**
 * Steps 4 to 11 of docs/design/authorization.md Z6, for every endpoint with a credential policy: decide, replay, look up.
 *
 * The check runs before the body is decoded, so a foreign project is answered before an invalid body. Only a member that
 * needs a stricter policy is read earlier, because rights come before the look-up. Reads that a client may combine with a stream
 * carry `Events-Cursor`, which is taken before the state is read (docs/design/events.md E27). Changes leave their entry
 * in the audit log.
 */
import {
  limitOf,
  NotReplayed,
  PolicyCheck,
  policyFor,
  policyOf,
  RaisedBy,
  StreamsEvents,
  TargetSelf
} from "@narthex/api"
import {
  type AnyCaller,
  AppliedPolicy,
  Audit,
  Authorization,
  type CredentialPolicy,
  EventLog,
  type Found,
  IdempotencyStore,
  type NotFound,
  type OrgId,
  type PathIds,
  Principal,
  type Refused,
  type StorageError,
  Target,
  Transaction
} from "@narthex/core"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Limits } from "../limits/Limits.ts"
import { takePerCaller } from "../limits/takePerCaller.ts"
import { problems } from "../toProblem.ts"
import { actionOf, audited, isSensitive, reportingRefusals } from "./auditing.ts"
import { replayed } from "./Idempotency.ts"
import { sharing } from "./sharing.ts"

type Needed = Principal | HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext

/** One request. */
interface Asked {
  readonly caller: AnyCaller
  readonly ids: PathIds
  readonly params: Readonly<Record<string, string | undefined>>
  readonly request: HttpServerRequest.HttpServerRequest
}

const unsafe = new Set(["POST", "PATCH", "DELETE"])

const pathIds = (params: Readonly<Record<string, string | undefined>>): PathIds =>
  Object.fromEntries(Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** The body, or `undefined` when it is not JSON; that is answered where the body is decoded. */
const peeked = (request: HttpServerRequest.HttpServerRequest) => Effect.orElseSucceed(request.json, () => undefined)

export const layerPolicyCheck = Layer.effect(
  PolicyCheck,
  Effect.gen(function* () {
    const audit = yield* Audit
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

    /** The answer with the head of the log before it; an answer without one when the log cannot be read. */
    const withCursor = <E, R>(org: OrgId, answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
      Effect.matchEffect(heads(org, log.headOf(org)), {
        onFailure: () => answer,
        onSuccess: (id) => Effect.map(answer, HttpServerResponse.setHeader("events-cursor", id))
      })

    return PolicyCheck.of((handler, { endpoint }) => {
      const { annotations } = endpoint
      const raisable = Context.get(annotations, RaisedBy) !== undefined
      const targetsSelf = Context.get(annotations, TargetSelf)
      const runsOnce = !Context.get(annotations, NotReplayed)
      const streams = Context.get(annotations, StreamsEvents)
      const counts = limitOf(endpoint) !== undefined
      const action = actionOf(endpoint)
      const sensitive = isSensitive(endpoint)

      /** Steps 10 and 11, and the call itself. */
      const admitted = (policy: CredentialPolicy, { caller, ids, params, request }: Asked) => {
        const prepare = Effect.flatMap(problems(find(policy, caller, ids)), (found) => {
          const called = Effect.updateContext(handler, (context: Context.Context<never>) =>
            Context.add(Context.add(context, Target, found), AppliedPolicy, policy)
          )
          const allowed =
            action === undefined ? called : audited(audit, { action, caller, endpoint, params, request }, found, called)
          if (!counts) return Effect.succeed(allowed)
          return Effect.map(takePerCaller(limits, endpoint, caller), (refused) =>
            refused === undefined ? allowed : Effect.succeed(refused)
          )
        })
        const changes = unsafe.has(request.method)
        if (changes && runsOnce) return replayed(replays, { caller, endpoint, request }, prepare)
        const answer = Effect.flatten(prepare)
        return policy.effect === "read" && !changes && !streams ? withCursor(caller.org_id, answer) : answer
      }

      return Effect.contextWith((context: Context.Context<Needed>) => {
        const own = policyOf(endpoint)
        if (own?._tag !== "Credential") return Effect.die(new Error(`${endpoint.path} has no credential policy.`))
        const caller = Context.get(context, Principal)
        const request = Context.get(context, HttpServerRequest.HttpServerRequest)
        const { params } = Context.get(context, HttpRouter.RouteContext)
        const self = targetsSelf && caller.kind === "api_key" ? caller.api_key_id : undefined
        const named = self === undefined ? params : { ...params, api_key_id: self }
        const ids = pathIds(named)
        const under = (policy: CredentialPolicy) => {
          const call = Effect.flatMap(problems(authorization.admit(policy, caller, ids)), () =>
            admitted(policy, { caller, ids, params: named, request })
          )
          return action === undefined || !sensitive
            ? call
            : reportingRefusals(audit, { action, caller, endpoint, params: named, request }, call)
        }
        return raisable ? Effect.flatMap(peeked(request), (body) => under(policyFor(endpoint, own, body))) : under(own)
      })
    })
  })
)
