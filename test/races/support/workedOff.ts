import { type Branch, OperationRunner, OperationStore } from "@narthex/core"
import { Effect } from "effect"

/** Works until nothing is left to do on the branch; another lane may be at it too. */
export const workedOff = Effect.fnUntraced(function* (branch: Pick<Branch, "id">) {
  const { runOne } = yield* OperationRunner
  const { unfinished } = yield* OperationStore
  while ((yield* unfinished(branch.id)).length > 0) yield* runOne
})
