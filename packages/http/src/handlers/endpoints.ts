/** Serves `EndpointsApi` from the core. */
import { Api } from "@narthex/api"
import { AppliedPolicy, Endpoints, Principal, SizeCatalog, Target } from "@narthex/core"
import { Effect } from "effect"
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
      sizes: () => Effect.map(SizeCatalog, (sizes) => ({ sizes })),
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(endpoints.list(yield* Principal, yield* Target.project, page))
        return { endpoints: yield* Effect.forEach(items, endpointRecord), pagination: { next_cursor } }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const wanted = {
          branch_id: payload.branch_id,
          type: payload.type ?? ("read_only" as const),
          suspend_timeout_seconds: payload.suspend_timeout_seconds ?? null,
          size: payload.size ?? null
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
