/** Serves `OperationsApi` from the core. */
import { Api } from "@narthex/api"
import { NotFound, OperationCancels, Operations, OperationWaits, Principal, Target } from "@narthex/core"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { operationRecords, pageOf } from "./records.ts"

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
