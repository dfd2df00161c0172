/** Serves `EndpointsApi` and `OperationsApi` from the core. */
import { Api, pageRequest } from "@narthex/api"
import {
  decideTarget,
  Endpoints,
  EndpointStore,
  initiatorOf,
  NotFound,
  OperationStore,
  OperationWaits,
  Principal,
  Refused,
  Target
} from "@narthex/core"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { shown, views, worked } from "./views.ts"

const branchScope = Effect.map(Principal, (caller) =>
  caller.kind === "api_key" && caller.scope.type === "branch" ? caller.scope.branch_id : null
)

export const EndpointsHandlers = HttpApiBuilder.group(
  Api,
  "endpoints",
  Effect.fn(function* (handlers) {
    const endpoints = yield* Endpoints
    const store = yield* EndpointStore

    const head = Effect.fnUntraced(function* (towards: "active" | "idle") {
      const endpoint = yield* Target.endpoint
      const initiator = initiatorOf(yield* Principal)
      return yield* worked(yield* problems(endpoints.head(yield* Target.project, endpoint.id, towards, initiator)))
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* problems(Effect.fromResult(pageRequest(query)))
        const { id } = yield* Target.project
        const { items, next_cursor } = yield* problems(store.list(id, yield* branchScope, page))
        return { endpoints: yield* Effect.forEach(items, shown), pagination: { next_cursor } }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* Principal
        const project = yield* Target.project
        const branch = yield* problems(endpoints.branchFor(project, payload.branch_id))
        const refusal = decideTarget({ agent: "not_main" }, caller, branch)
        if (refusal !== undefined) return yield* problems(new Refused(refusal))
        const wanted = {
          branch_id: payload.branch_id,
          type: payload.type ?? ("read_only" as const),
          suspend_timeout_seconds: payload.suspend_timeout_seconds ?? null
        }
        return yield* worked(yield* problems(endpoints.create(caller, project, branch, wanted)))
      }),
      get: () => Effect.flatMap(Target.endpoint, (it) => Effect.map(shown(it), (endpoint) => ({ endpoint }))),
      change: Effect.fnUntraced(function* ({ payload }) {
        const changed = endpoints.change(yield* Principal, yield* Target.project, yield* Target.endpoint, payload)
        return yield* worked(yield* problems(changed))
      }),
      delete: Effect.fnUntraced(function* () {
        const removed = endpoints.remove(yield* Principal, yield* Target.project, yield* Target.endpoint)
        return { operations: views(yield* problems(removed)) }
      }),
      start: () => head("active"),
      suspend: () => head("idle")
    })
  })
)

export const OperationsHandlers = HttpApiBuilder.group(
  Api,
  "operations",
  Effect.fn(function* (handlers) {
    const store = yield* OperationStore
    const waits = yield* OperationWaits
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* problems(Effect.fromResult(pageRequest(query)))
        const { id } = yield* Target.project
        const { items, next_cursor } = yield* problems(store.list(id, yield* branchScope, page))
        return { operations: views(items), pagination: { next_cursor } }
      }),
      get: Effect.fnUntraced(function* ({ query: { wait } }) {
        const operation = yield* Target.operation
        if (wait === undefined) return { operation: operation.view }
        const settled = yield* problems(waits.settled(operation.id, wait))
        return Option.isNone(settled) ? yield* problems(new NotFound({})) : { operation: settled.value.view }
      })
    })
  })
)
