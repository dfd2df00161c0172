/** The operation of a command. An operation has no name: it is given by its id, which may be shortened. */
import { type ProjectId, parseOperationId } from "@narthex/api"
import { Effect, Option } from "effect"
import { withBody } from "../connection/answers.ts"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { type Kind, objectsOf, resolve } from "./resolve.ts"

const operations: Kind = { one: "operation", many: "operations", list: "narthex operation list" }

/** The id of the project's operation with this id. A whole id needs no call. */
export const operationNamed = Effect.fnUntraced(function* (
  { client }: AuthenticatedApi,
  project_id: ProjectId,
  name: string
) {
  const id = parseOperationId(name)
  if (Option.isSome(id)) return id.value
  const listed = objectsOf(
    "operations",
    (query) => client.api.operations.list({ params: { project_id }, query, ...withBody }),
    (operation) => ({ id: operation.id, names: [] })
  )
  return (yield* resolve(operations, { name }, yield* listed)).id
})
