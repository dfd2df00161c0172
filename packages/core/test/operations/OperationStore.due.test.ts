import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { aBranchId, anOperation, aProjectId, at } from "../../testing/records.ts"
import { onMemory } from "../onMemory.ts"

describe("The next due instant", () => {
  it.effect("is the earliest retry or end of a lease that is still to come", () =>
    Effect.gen(function* () {
      const { insert, nextDue } = yield* OperationStore
      const project = aProjectId()
      yield* insert(anOperation(project, aBranchId(), { retry_at: at(30) }))
      yield* insert(anOperation(project, aBranchId(), { retry_at: at(10) }))
      yield* insert(anOperation(project, aBranchId(), { status: "running", lease_owner: "w", lease_until: at(20) }))
      yield* insert(anOperation(project, aBranchId(), { status: "finished", retry_at: at(5) }))
      for (const [now, due] of [
        [0, 10],
        [10, 20],
        [20, 30]
      ] as const)
        assert.deepStrictEqual(yield* nextDue(at(now)), Option.some(at(due)))
      assert.deepStrictEqual(yield* nextDue(at(30)), Option.none())
    }).pipe(Effect.provide(onMemory(OperationStore.layerMemory)))
  )
})
