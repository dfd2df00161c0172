/** The contract of `OperationStore` about the unfinished operations of a branch: which are read, and how many. */
import { Effect, Option } from "effect"
import { type BranchId, EndpointId, RegionId } from "../../src/Ids.ts"
import { type OperationAction, StoredOperation } from "../../src/records/operations/Operation.ts"
import { mostUnfinished, OperationStore } from "../../src/records/operations/OperationStore.ts"
import { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anOperation, aProjectId, at } from "../records.ts"

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

  it("due operations are counted by class and region, with the instant since when the oldest is due", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const here = RegionId.make("backlog")
      const [first, copied] = [aBranchId(), aBranchId()]
      const of = (action: OperationAction, branch: BranchId, seconds: number, rest: Partial<StoredOperation> = {}) =>
        inserted(branch, { region_id: here, action, created_at: at(seconds), ...rest })
      const made = [
        yield* of("start_compute", first, 10),
        yield* of("suspend_compute", first, 5),
        yield* of("start_compute", aBranchId(), 20),
        yield* of("create_branch", copied, 0, { retry_at: at(40) }),
        yield* of("create_branch", aBranchId(), 0, { lease_owner: "w", lease_until: at(80), fence: 1 }),
        yield* of("delete_timeline", aBranchId(), 30, { region_id: RegionId.make("elsewhere") })
      ]
      const counted = (seconds: number, region: RegionId | null = here) =>
        Effect.map(store.backlog(region, at(seconds)), (all) =>
          Object.fromEntries(all.map(({ class: of, due, since }) => [of, { due, since }]))
        )
      assert.deepStrictEqual(yield* counted(30), { computes: { due: 2, since: at(10) } })
      assert.deepStrictEqual(yield* counted(60), {
        computes: { due: 2, since: at(10) },
        branches: { due: 1, since: at(40) }
      })
      assert.deepStrictEqual((yield* counted(90))["branches"], { due: 2, since: at(40) })
      assert.deepStrictEqual((yield* counted(60, null))["deletions"], { due: 1, since: at(30) })
      yield* clean(...made)
      assert.deepStrictEqual(yield* counted(90), {})
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
