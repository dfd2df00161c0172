import { type Branch, OperationRunner, OperationStore } from "@narthex/core"
import { Effect } from "effect"
import { eventually } from "../../harness/eventually.ts"

/** Performs operations until the branch has no unfinished one; other lanes may claim operations of the branch too. */
export const workedOff = Effect.fnUntraced(function* (branch: Pick<Branch, "id">) {
  const { runOne } = yield* OperationRunner
  const { unfinished } = yield* OperationStore
  yield* eventually(
    `the operations of branch ${branch.id}`,
    Effect.gen(function* () {
      if ((yield* unfinished(branch.id)).length === 0) return true
      yield* runOne
      return (yield* unfinished(branch.id)).length === 0
    }),
    { every: 1 }
  )
})
