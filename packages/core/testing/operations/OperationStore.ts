/**
 * The contract of `OperationStore`. Run it against every adapter: claims see every operation, so the layer must be
 * fresh.
 */
import { Deferred, Effect, Fiber, Option } from "effect"
import { type BranchId, EndpointId } from "../../src/Ids.ts"
import type { ClaimLimits } from "../../src/records/operations/nextClaim.ts"
import { type OperationStatus, StoredOperation } from "../../src/records/operations/Operation.ts"
import type { OperationFilter } from "../../src/records/operations/OperationFilter.ts"
import { type Lease, OperationStore } from "../../src/records/operations/OperationStore.ts"
import { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, aClaim, anOperation, aProjectId, at } from "../records.ts"
import { atOnce, inTransactionsAtOnce, undone } from "../together.ts"

const inserted = (branch: BranchId | null, rest: Partial<StoredOperation> = {}) =>
  Effect.gen(function* () {
    const operation = anOperation(aProjectId(), branch, rest)
    yield* (yield* OperationStore).insert(operation)
    return operation
  })

const claim = (worker: string, seconds = 0, limits: Partial<ClaimLimits> = {}) =>
  Effect.flatMap(OperationStore, (store) =>
    store.claim({ ...aClaim("branches"), ...limits, worker, now: at(seconds), lease_until: at(seconds + 30) })
  )

/** The lease by which a worker holds an operation that it has claimed. */
const leaseOf = (worker: string, claimed: Option.Option<StoredOperation>) => ({
  worker,
  fence: Option.getOrThrow(claimed).fence
})

const move = (operation: StoredOperation, status: OperationStatus, rest: Partial<StoredOperation> = {}) =>
  Effect.flatMap(OperationStore, (store) =>
    store.update(new StoredOperation({ ...operation, status, lease_owner: null, lease_until: null, ...rest }))
  )

const idOf = Option.map((it: StoredOperation) => it.id)

/** Finishes every operation, so that the next test starts with none to claim. */
const clean = (...operations: ReadonlyArray<StoredOperation>) =>
  Effect.forEach(operations, (it) => move(it, "finished"), { discard: true })

export const operationStoreContract = contract<OperationStore | Transaction>("OperationStore", (it) => {
  it("an operation is stored as it was inserted and updated", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const operation = yield* inserted(aBranchId())
      assert.deepStrictEqual(yield* store.find(operation.id), Option.some(operation))
      const failed = new StoredOperation({ ...operation, status: "failed", error: "disk", failures_count: 3 })
      yield* store.update(failed)
      assert.deepStrictEqual(yield* store.lock(operation.id), Option.some(failed))
    }))

  it("a claim leases the oldest due operation, and none when none is due", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* inserted(aBranchId()), yield* inserted(aBranchId())]
      const first = yield* claim("w1")
      const { fence } = Option.getOrThrow(first)
      assert.deepStrictEqual(
        first,
        Option.some(new StoredOperation({ ...a, lease_owner: "w1", lease_until: at(30), fence }))
      )
      assert.deepStrictEqual(yield* (yield* OperationStore).find(a.id), first)
      const second = yield* claim("w2")
      assert.deepStrictEqual(idOf(second), Option.some(b.id))
      assert.isAbove(leaseOf("w2", second).fence, fence, "fences grow")
      assert.isTrue(Option.isNone(yield* claim("w3")))
      yield* clean(a, b)
    }))

  it("each operation is leased to one of many workers", () =>
    Effect.gen(function* () {
      const made = yield* Effect.forEach(Array.from({ length: 6 }), () => inserted(aBranchId()))
      const claimed = yield* atOnce(4, (n) =>
        Effect.gen(function* () {
          const mine: Array<string> = []
          for (;;) {
            const found = yield* claim(`w${n}`)
            if (Option.isNone(found)) return mine
            mine.push(found.value.id)
          }
        })
      )
      // A worker may find none while another one claims the last; the rest is claimed next.
      const rest = yield* Effect.forEach(made, () => claim("late"))
      const all = [...claimed.flat(), ...rest.flatMap((it) => Option.toArray(idOf(it)))]
      assert.deepStrictEqual(all.toSorted(), made.map((it) => it.id).toSorted())
      yield* clean(...made)
    }))

  it("a claim skips an operation that an open transaction is claiming", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      const [a, b] = [yield* inserted(aBranchId()), yield* inserted(aBranchId())]
      const inside = yield* Deferred.make<void>()
      const leave = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        run(claim("w1").pipe(Effect.tap(Deferred.succeed(inside, undefined)), Effect.tap(Deferred.await(leave))))
      )
      yield* Deferred.await(inside)
      const second = yield* Effect.forkChild(claim("w2"))
      yield* Effect.yieldNow
      yield* Deferred.succeed(leave, undefined)
      assert.deepStrictEqual(idOf(yield* Fiber.join(first)), Option.some(a.id))
      assert.deepStrictEqual(idOf(yield* Fiber.join(second)), Option.some(b.id))
      yield* clean(a, b)
    }))

  it("an operation is leased to another worker once its lease has expired", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const operation = yield* inserted(aBranchId())
      const first = leaseOf("w1", yield* claim("w1"))
      const extend = (lease: Lease, seconds: number) => store.extend(operation.id, lease, at(seconds + 30))
      assert.strictEqual(yield* extend(first, 20), "kept")
      assert.strictEqual(yield* extend({ ...first, worker: "w2" }, 20), "lost")
      assert.isTrue(Option.isNone(yield* claim("w2", 49)))
      const second = yield* claim("w2", 50)
      assert.deepStrictEqual(idOf(second), Option.some(operation.id))
      assert.strictEqual(yield* extend(first, 51), "lost")
      assert.strictEqual(yield* extend(leaseOf("w2", second), 51), "kept")
      yield* store.update(new StoredOperation({ ...Option.getOrThrow(second), status: "finished" }))
      assert.strictEqual(yield* extend(leaseOf("w2", second), 52), "lost")
      assert.isTrue(Option.isNone(yield* claim("w3", 1000)))
    }))

  it("a worker that claims an operation again does not hold it by its earlier claim", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const operation = yield* inserted(aBranchId())
      const first = leaseOf("w1", yield* claim("w1"))
      const again = leaseOf("w1", yield* claim("w1", 40))
      assert.strictEqual(yield* store.extend(operation.id, first, at(100)), "lost")
      yield* store.release(operation.id, first)
      assert.isTrue(Option.isNone(yield* claim("w2", 41)), "the later claim still holds")
      assert.strictEqual(yield* store.extend(operation.id, again, at(100)), "kept")
      yield* clean(operation)
    }))

  it("a released operation can be claimed at once", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const operation = yield* inserted(aBranchId())
      const first = yield* claim("w1")
      yield* store.release(operation.id, { ...leaseOf("w1", first), worker: "w2" })
      assert.isTrue(Option.isNone(yield* claim("w2", 1)))
      yield* store.release(operation.id, leaseOf("w1", first))
      const second = yield* claim("w2", 1)
      assert.deepStrictEqual(idOf(second), Option.some(operation.id))
      assert.isAbove(leaseOf("w2", second).fence, leaseOf("w1", first).fence)
      yield* clean(operation)
    }))

  it("a worker that extends its lease learns that the operation is to be cancelled", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const operation = yield* inserted(aBranchId())
      const claimed = yield* claim("w1")
      yield* store.update(new StoredOperation({ ...Option.getOrThrow(claimed), status: "cancelling" }))
      assert.strictEqual(yield* store.extend(operation.id, leaseOf("w1", claimed), at(60)), "cancelling")
      assert.isTrue(Option.isNone(yield* claim("w2", 59)), "and the lease is extended")
      yield* clean(operation)
    }))

  it("operations of a branch run one after another in the order of their creation", () =>
    Effect.gen(function* () {
      const branch = aBranchId()
      // The order is that of insertion: ids of the same millisecond are not in order.
      const [second, first] = [anOperation(aProjectId(), branch), yield* inserted(branch)]
      const store = yield* OperationStore
      yield* store.insert(second)
      const elsewhere = yield* inserted(aBranchId())
      assert.deepStrictEqual(yield* store.unfinished(branch), [first, second])
      assert.deepStrictEqual(idOf(yield* claim("w1")), Option.some(first.id))
      assert.deepStrictEqual(idOf(yield* claim("w2")), Option.some(elsewhere.id))
      assert.isTrue(Option.isNone(yield* claim("w3")))
      yield* move(first, "cancelling", { lease_owner: "w1", lease_until: at(30) })
      assert.isTrue(Option.isNone(yield* claim("w3")))
      yield* move(first, "cancelled")
      assert.deepStrictEqual(yield* store.unfinished(branch), [second])
      assert.deepStrictEqual(idOf(yield* claim("w3")), Option.some(second.id))
      yield* clean(second, elsewhere)
    }))

  it("operations of a branch become visible in order, however their transactions overlap", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const branch = aBranchId()
      const seen: Array<string> = []
      const made = yield* inTransactionsAtOnce(8, () =>
        Effect.gen(function* () {
          const operation = yield* inserted(branch)
          seen.push(operation.id)
          return operation
        })
      )
      assert.deepStrictEqual(
        (yield* store.unfinished(branch)).map((it) => it.id as string),
        seen
      )
      yield* clean(...made)
    }))

  it("operations without a branch run in parallel", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* inserted(null), yield* inserted(null)]
      assert.deepStrictEqual(
        [idOf(yield* claim("w1")), idOf(yield* claim("w2"))],
        [Option.some(a.id), Option.some(b.id)]
      )
      yield* clean(a, b)
    }))

  it("an operation and those after it on its branch wait until its retry is due", () =>
    Effect.gen(function* () {
      const branch = aBranchId()
      const [first, second] = [yield* inserted(branch), yield* inserted(branch)]
      yield* move(first, "running", { retry_at: at(10) })
      assert.isTrue(Option.isNone(yield* claim("w1", 9)))
      assert.deepStrictEqual(idOf(yield* claim("w1", 10)), Option.some(first.id))
      yield* clean(first, second)
    }))

  it("operations of a project or a branch are listed in pages, newest first", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const [project_id, branch] = [aProjectId(), aBranchId()]
      const a = yield* inserted(branch, { project_id, status: "finished" })
      const b = yield* inserted(null, { project_id, status: "skipped" })
      const c = yield* inserted(branch, { project_id, status: "error" })
      const first = yield* store.list(project_id, {}, { limit: 2, after: null })
      assert.deepStrictEqual(first.items, [c, b])
      assert.isNotNull(first.next_cursor)
      assert.deepStrictEqual((yield* store.list(project_id, {}, { limit: 2, after: b.id })).items, [a])
      assert.deepStrictEqual((yield* store.list(project_id, { branch_id: branch }, { limit: 2, after: null })).items, [
        c,
        a
      ])
    }))

  it("a list has the operations that fit every member of the filter, and its pages join without a gap", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const [project_id, branch, endpoint_id] = [aProjectId(), aBranchId(), EndpointId.make("ep-filtered")]
      const [start, create] = [{ action: "start_compute", endpoint_id } as const, { action: "create_branch" } as const]
      const made = yield* Effect.forEach(
        [
          { branch, ...create, status: "finished" },
          { branch, ...start, status: "failed" },
          { branch: aBranchId(), ...start, status: "failed" },
          { branch: null, ...create, status: "failed" },
          { branch, ...start, status: "finished" },
          { branch, ...start, status: "failed" }
        ] as const,
        ({ branch: of, ...rest }) => inserted(of, { project_id, ...rest })
      )
      yield* inserted(branch, { ...start, status: "failed" })
      const listed = (filter: OperationFilter, limit = 10, after: string | null = null) =>
        Effect.map(store.list(project_id, filter, { limit, after }), ({ items, next_cursor }) => [
          items.map((item) => made.findIndex(({ id }) => id === item.id)),
          next_cursor !== null
        ])
      assert.deepStrictEqual(yield* listed({}), [[5, 4, 3, 2, 1, 0], false])
      assert.deepStrictEqual(yield* listed({ status: "failed" }), [[5, 3, 2, 1], false])
      assert.deepStrictEqual(yield* listed({ action: "create_branch" }), [[3, 0], false])
      assert.deepStrictEqual(yield* listed({ branch_id: branch }), [[5, 4, 1, 0], false])
      assert.deepStrictEqual(yield* listed({ endpoint_id }), [[5, 4, 2, 1], false])
      const all = { status: "failed", action: "start_compute", branch_id: branch, endpoint_id } as const
      assert.deepStrictEqual(yield* listed(all), [[5, 1], false])
      assert.deepStrictEqual(yield* listed({ ...all, branch_id: aBranchId() }), [[], false])
      // A page is full of what fits, and says that there are more only if one of those that follow fits.
      assert.deepStrictEqual(yield* listed({ status: "failed" }, 3), [[5, 3, 2], true])
      assert.deepStrictEqual(yield* listed({ status: "failed" }, 3, made[2]?.id), [[1], false])
      assert.deepStrictEqual(yield* listed({ status: "failed" }, 4), [[5, 3, 2, 1], false])
      assert.deepStrictEqual(yield* listed({ action: "create_branch" }, 3, made[2]?.id), [[0], false])
    }))

  it("transactions that lock an operation run one after another, and a rollback undoes their writes", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const operation = yield* inserted(aBranchId())
      yield* inTransactionsAtOnce(8, () =>
        Effect.gen(function* () {
          const found = yield* Effect.fromOption(yield* store.lock(operation.id))
          yield* store.update(new StoredOperation({ ...found, failures_count: found.failures_count + 1 }))
        })
      )
      yield* undone(claim("w1"))
      const found = yield* store.find(operation.id)
      assert.deepStrictEqual(
        Option.map(found, (it) => [it.failures_count, it.lease_owner]),
        Option.some([8, null])
      )
      yield* clean(operation)
    }))
})
