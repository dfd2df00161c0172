/** Serves `SandboxesApi` from the core. */
import { Api } from "@narthex/api"
import { Principal, Sandboxes, Target, viewBranch } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { endpointRecord, operationRecords } from "./records.ts"

export const SandboxesHandlers = HttpApiBuilder.group(
  Api,
  "sandboxes",
  Effect.fn(function* (handlers) {
    const sandboxes = yield* Sandboxes
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const wanted = {
          name: payload.name ?? null,
          parent_id: payload.parent_id ?? null,
          ttl_seconds: payload.ttl_seconds ?? null
        }
        const made = yield* problems(sandboxes.create(yield* Principal, yield* Target.project, wanted))
        return {
          ...made,
          branch: viewBranch(made.branch),
          endpoint: yield* endpointRecord(made.endpoint),
          operations: operationRecords(made.operations)
        }
      })
    })
  })
)
