/** Waits of claims and changes of operations for each other, and their absence. Each order is forced. */
import { assert, layer } from "@effect/vitest"
import { type OperationClass, OperationStore, StoredOperation, Transaction } from "@narthex/core"
import { aBranchId, aClaim, anOperation, anOrgId, aProjectId, at } from "@narthex/core/testing"
import { Effect, Option } from "effect"
import { Database } from "../../src/index.ts"
import { overlapping } from "../support/overlapping.ts"
import { onPostgres } from "./onPostgres.ts"

const of: OperationClass = "branches"

const inserted = (branch = aBranchId(), org_id = anOrgId()) =>
  Effect.gen(function* () {
    const operation = anOperation(aProjectId(), branch, { org_id })
    yield* (yield* OperationStore).insert(operation)
    return operation
  })

/** The id of the operation that is claimed; `undefined`: none is due. */
const claim = (per_org = 1_000) =>
  Effect.gen(function* () {
    const store = yield* OperationStore
    const found = yield* store.claim({ ...aClaim(of), per_org, worker: "w", now: at(0), lease_until: at(30) })
    return Option.getOrUndefined(found)?.id
  })

const finish = (operation: StoredOperation) =>
  OperationStore.use((store) => store.update(new StoredOperation({ ...operation, status: "finished" })))

layer(onPostgres, { excludeTestServices: true })("claims on Postgres", (it) => {
  it.effect("a claim does not wait for an operation that a transaction is changing, and takes the next", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const org = anOrgId()
      const [a, b] = [yield* inserted(aBranchId(), org), yield* inserted(aBranchId(), org)]
      const { second, waited } = yield* overlapping(store.lock(a.id), claim())
      assert.deepStrictEqual([second, waited], [b.id, false])
      yield* Effect.forEach([a, b], finish)
    })
  )

  it.effect("a claim waits for a claim of its class that is not committed, and counts it", () =>
    Effect.gen(function* () {
      const org = anOrgId()
      const [a, b] = [yield* inserted(aBranchId(), org), yield* inserted(aBranchId(), org)]
      const { first, second } = yield* overlapping(claim(1), claim(1))
      assert.deepStrictEqual([first, second], [a.id, undefined])
      yield* Effect.forEach([a, b], finish)
    })
  )

  it.effect(
    "a transaction that has waited for other claims may be idle for five seconds, also if it found nothing",
    () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const { run } = yield* Transaction
        const limit = Effect.map(
          query<{ readonly idle: string }>(
            "limit",
            "select current_setting('idle_in_transaction_session_timeout') as idle"
          ),
          ([row]) => row?.idle
        )
        // Nothing is due: it waited for none.
        assert.deepStrictEqual(yield* run(Effect.all([limit, claim(), limit])), ["1min", undefined, "1min"])
        const org = anOrgId()
        const both = [yield* inserted(aBranchId(), org), yield* inserted(aBranchId(), org)]
        assert.strictEqual(yield* claim(1), both[0]?.id)
        assert.deepStrictEqual(yield* run(Effect.all([limit, claim(1), limit])), ["1min", undefined, "5s"])
        assert.strictEqual(yield* run(limit), "1min")
        yield* Effect.forEach(both, finish)
      })
  )

  it.effect("an operation that is added while the one before it ends can be claimed", () =>
    Effect.gen(function* () {
      const branch = aBranchId()
      const before = yield* inserted(branch)
      const { first: after } = yield* overlapping(inserted(branch), finish(before))
      assert.strictEqual(yield* claim(), after.id)
      yield* finish(after)
    })
  )
})
