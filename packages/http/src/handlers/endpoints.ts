/** Serves `EndpointsApi` and `OperationsApi` from the core. */
import { Api } from "@narthex/api"
import {
  AppliedPolicy,
  Endpoints,
  NotFound,
  OperationCancels,
  Operations,
  OperationWaits,
  Principal,
  Target
} from "@narthex/core"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { endpointRecord, endpointWork, operationRecords, pageOf } from "./records.ts"

export const EndpointsHandlers = HttpApiBuilder.group(
  Api,
  "endpoints",
  Effect.fn(function* (handlers) {
    const endpoints = yield* Endpoints

    const bring = Effect.fnUntraced(function* (state: "active" | "idle") {
      const policy = yield* AppliedPolicy
      const work = endpoints.bring(yield* Principal, policy, yield* Target.project, yield* Target.endpoint, state)
      return yield* endpointWork(yield* problems(work))
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(endpoints.list(yield* Principal, yield* Target.project, page))
        return { endpoints: yield* Effect.forEach(items, endpointRecord), pagination: { next_cursor } }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const wanted = {
          branch_id: payload.branch_id,
          type: payload.type ?? ("read_only" as const),
          suspend_timeout_seconds: payload.suspend_timeout_seconds ?? null
        }
        return yield* endpointWork(yield* problems(endpoints.create(yield* Principal, yield* Target.project, wanted)))
      }),
      get: () => Effect.flatMap(Target.endpoint, (it) => Effect.map(endpointRecord(it), (endpoint) => ({ endpoint }))),
      change: Effect.fnUntraced(function* ({ payload }) {
        const policy = yield* AppliedPolicy
        const changed = endpoints.change(
          yield* Principal,
          policy,
          yield* Target.project,
          yield* Target.endpoint,
          payload
        )
        return yield* endpointWork(yield* problems(changed))
      }),
      delete: Effect.fnUntraced(function* () {
        const policy = yield* AppliedPolicy
        const removed = endpoints.remove(yield* Principal, policy, yield* Target.project, yield* Target.endpoint)
        return { operations: operationRecords(yield* problems(removed)) }
      }),
      start: () => bring("active"),
      // A suspend starts nothing, so it exceeds no quota.
      suspend: () => bring("idle").pipe(Effect.catchTag("QuotaExceededProblem", (error) => Effect.die(error)))
    })
  })
)

export const OperationsHandlers = HttpApiBuilder.group(
  Api,
  "operations",
  Effect.fn(function* (handlers) {
    const cancels = yield* OperationCancels
    const operations = yield* Operations
    const waits = yield* OperationWaits
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const listed = operations.list(yield* Principal, yield* Target.project, query, page)
        const { items, next_cursor } = yield* problems(listed)
        return { operations: operationRecords(items), pagination: { next_cursor } }
      }),
      get: Effect.fnUntraced(function* ({ query: { wait } }) {
        const operation = yield* Target.operation
        if (wait === undefined) return { operation: operation.view }
        const settled = yield* problems(waits.settledFor(yield* Principal, operation.id, wait))
        return Option.isNone(settled) ? yield* problems(new NotFound({})) : { operation: settled.value.view }
      }),
      cancel: Effect.fnUntraced(function* () {
        const cancelled = yield* problems(cancels.cancel(yield* Target.operation))
        return { operation: cancelled.view }
      })
    })
  })
)
