/** The contract of `OperationStore` about the unfinished operations of a branch: which are read, and how many. */
import { Effect, Option } from "effect"
import { type BranchId, EndpointId } from "../../src/Ids.ts"
import { StoredOperation } from "../../src/records/operations/Operation.ts"
import { mostUnfinished, OperationStore } from "../../src/records/operations/OperationStore.ts"
import { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anOperation, aProjectId } from "../records.ts"

const inserted = (branch: BranchId, rest: Partial<StoredOperation> = {}) =>
  Effect.gen(function* () {
    const operation = anOperation(aProjectId(), branch, rest)
    yield* (yield* OperationStore).insert(operation)
    return operation
  })

/** Finishes every operation, so that the next test starts with none to claim. */
const clean = (...operations: ReadonlyArray<StoredOperation>) =>
  Effect.flatMap(OperationStore, ({ update }) =>
    Effect.forEach(operations, (it) => update(new StoredOperation({ ...it, status: "finished" })), { discard: true })
  )

export const operationQueuesContract = contract<OperationStore | Transaction>("OperationStore queues", (it) => {
  it("unfinished operations are read by action and endpoint, at most so many, the newest of them", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const branch = aBranchId()
      const [one, two] = [EndpointId.make("ep-1"), EndpointId.make("ep-2")]
      const made = [
        yield* inserted(branch, { action: "start_compute", endpoint_id: one }),
        yield* inserted(branch, { action: "start_compute", endpoint_id: two }),
        yield* inserted(branch, { action: "reset_branch", endpoint_id: null }),
        yield* inserted(branch, { action: "suspend_compute", endpoint_id: one }),
        yield* inserted(branch, { action: "apply_config", endpoint_id: null })
      ]
      const [start, other, reset, suspend, apply] = made
      const other_branch = yield* inserted(aBranchId(), { action: "start_compute", endpoint_id: one })
      const actions = ["start_compute", "suspend_compute", "reset_branch"] as const
      assert.deepStrictEqual(yield* store.unfinished(branch, { actions }), [start, other, reset, suspend])
      assert.deepStrictEqual(yield* store.unfinished(branch, { actions, endpoint_id: one }), [start, reset, suspend])
      assert.deepStrictEqual(yield* store.unfinished(branch, { actions, endpoint_id: two, limit: 1 }), [reset])
      assert.deepStrictEqual(yield* store.unfinished(branch, { limit: 2 }), [suspend, apply])
      assert.deepStrictEqual(yield* store.unfinished(branch, { actions: [] }), [])
      yield* clean(...made, other_branch)
    }))

  it("no more than the newest hundred unfinished operations of a branch are read at once", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const branch = aBranchId()
      const made = yield* Effect.replicateEffect(inserted(branch), mostUnfinished + 5)
      assert.deepStrictEqual(yield* store.unfinished(branch), made.slice(5))
      yield* clean(...made)
    }))

  it("a row is locked without waiting, and an unknown one is not found", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { run } = yield* Transaction
      const operation = yield* inserted(aBranchId())
      assert.deepStrictEqual(yield* run(store.lockFree(operation.id)), Option.some(operation))
      assert.deepStrictEqual(yield* run(store.lockFree(anOperation(aProjectId(), aBranchId()).id)), Option.none())
      yield* clean(operation)
    }))
})
