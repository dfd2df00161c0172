/** The start of a copy checks its parent, though the claim has checked it: the parent may change between the two. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { OperationAction, StoredOperation } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Core, Machines, settle } from "../memory/core.ts"
import { only, operation, readyChild, readyProject, scheduled, statusesOf } from "./story.ts"

type Given = Effect.Success<typeof aCopy>

/** A ready branch, and the operation that copies it to another one. */
const aCopy = Effect.gen(function* () {
  const { ada, project } = yield* readyProject
  const { branch: parent } = yield* readyChild(ada, project)
  const wanted = { name: null, parent_id: parent.id, protected: false, ttl_seconds: null, endpoint: false }
  const made = yield* (yield* Branches).create(ada, project, wanted)
  return { ada, project, parent, branch: made.branch, copy: only(made.operations) }
})

/** Runs an operation; `between` happens after its claim and before its start. */
const claimedBefore = <A, E>(between: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const store = yield* OperationStore
    const claim: typeof store.claim = (wanted) =>
      Effect.tap(store.claim(wanted), (claimed) => (Option.isSome(claimed) ? Effect.orDie(between) : Effect.void))
    const worker = Layer.provide(
      Layer.fresh(OperationRunner.layerManual),
      Layer.succeed(OperationStore, { ...store, claim })
    )
    return yield* Effect.provide(
      Effect.flatMap(OperationRunner, ({ runOne }) => runOne),
      worker
    )
  })

const during = (given: Given, action: OperationAction) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Effect.Services<ReturnType<typeof scheduled>>>()
    let made: StoredOperation | undefined
    const schedule = Effect.map(scheduled({ ...given, branch: given.parent }, action), (it) => {
      made = it
    })
    yield* claimedBefore(Effect.provideContext(schedule, context))
    return made ?? (yield* Effect.die(new Error("nothing was claimed")))
  })

describe("A copy that is claimed", () => {
  it.effect("a copy waits when its parent's data is about to be replaced, and is due again a moment after", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* aCopy
      const reset = yield* during(given, "reset_branch")
      assert.deepInclude(
        { ...(yield* operation(given.copy.id)) },
        { status: "scheduling", lease_owner: null, lease_until: null }
      )
      assert.notInclude(machines.calls.join(), `createBranch ${given.branch.id}`)
      yield* TestClock.adjust("100 millis")
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(reset.id), ["scheduling", "running", "finished"])
      assert.deepStrictEqual(yield* statusesOf(given.copy.id), ["scheduling", "running", "finished"])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a copy does not wait for roles of its parent", () =>
    Effect.gen(function* () {
      const given = yield* aCopy
      yield* during(given, "apply_config")
      assert.strictEqual((yield* operation(given.copy.id)).status, "finished")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a copy to a branch that is deleted before its start is skipped, and calls no driver", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { branch, copy } = yield* aCopy
      const store = yield* BranchStore
      yield* claimedBefore(store.markDeleted(branch.id, copy.created_at))
      assert.deepStrictEqual(yield* statusesOf(copy.id), ["scheduling", "skipped"])
      assert.notInclude(machines.calls.join(), `createBranch ${branch.id}`)
    }).pipe(Effect.provide(Core))
  )
})
