/** Places of a runner: each is free again after a round, whatever the round found. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { defaultRunnerSettings, RunnerPolicy } from "../../src/runner/RunnerPolicy.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Core, Machines } from "../memory/core.ts"
import { onBranch, only, operation, readyChild, readyProject, scheduled } from "./story.ts"

const { branches, computes, deletions, roles } = defaultRunnerSettings.classes
const policyOf = (places: number) => ({
  ...defaultRunnerSettings,
  classes: {
    branches: { ...branches, places },
    computes: { ...computes, places },
    deletions: { ...deletions, places },
    roles: { ...roles, places }
  }
})

/** A runner with this number of places in each class, and how often it has claimed. */
const runnerWith = Effect.fnUntraced(function* (places: number) {
  const store = yield* OperationStore
  const counts = { claims: 0 }
  const claim: typeof store.claim = (wanted) =>
    Effect.suspend(() => {
      counts.claims += 1
      return store.claim(wanted)
    })
  const runner = Layer.provide(Layer.fresh(OperationRunner.layer), Layer.succeed(OperationStore, { ...store, claim }))
  yield* Effect.provideService(Layer.build(runner), RunnerPolicy, policyOf(places))
  return counts
})

/** A round of every class, for as long as the condition is false. At most 40 rounds. */
const roundsUntil = <E, R>(done: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    for (let round = 0; round < 40; round++) {
      if (yield* done) return true
      yield* TestClock.adjust(defaultRunnerSettings.poll)
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
    }
    return false
  })

const twoOperations = Effect.gen(function* () {
  const { ada, project } = yield* readyProject
  const first = yield* readyChild(ada, project)
  const second = yield* readyChild(ada, project)
  return yield* Effect.forEach([first, second], ({ branch }) => scheduled({ branch, project }, "apply_config"))
})

const finished = (operations: Effect.Success<typeof twoOperations>) =>
  Effect.map(
    Effect.forEach(operations, ({ id }) => operation(id)),
    (rows) => rows.every(({ status }) => status === "finished")
  )

describe("The places of a runner", () => {
  it.effect("a place is free again after rounds that found nothing, and after each operation", () =>
    Effect.gen(function* () {
      const counts = yield* runnerWith(1)
      assert.isTrue(yield* roundsUntil(Effect.sync(() => counts.claims >= 12)), "three rounds of each class")
      const machines = yield* Machines
      const operations = yield* twoOperations
      assert.isTrue(yield* roundsUntil(finished(operations)), machines.calls.join("\n"))
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a deleted branch is stopped and removed while copies take every place of their class", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, project } = yield* readyProject
      const { branch: deleted } = yield* readyChild(ada, project)
      machines.before = (call) => (call.startsWith("createBranch") ? Effect.never : Effect.void)
      const { create, remove } = yield* Branches
      const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: false }
      const copies = yield* Effect.forEach(["one", "two"], (name) => create(ada, project, { ...wanted, name }))
      yield* runnerWith(1)
      assert.isTrue(
        yield* roundsUntil(Effect.sync(() => machines.calls.at(-1)?.startsWith("createBranch") === true)),
        "the only place for copies is taken"
      )
      const deletion = only(yield* remove(ada, onBranch, deleted))
      assert.isTrue(yield* roundsUntil(Effect.map(operation(deletion.id), ({ status }) => status === "finished")))
      assert.include(machines.calls, `deleteBranch ${deleted.id}`)
      const left = yield* Effect.forEach(copies, ({ operations }) => operation(only(operations).id))
      assert.sameMembers(
        left.map(({ status }) => status),
        ["running", "scheduling"]
      )
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("operations of a class run at once, as many as there are places", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const operations = yield* twoOperations
      machines.before = () => Effect.never
      yield* runnerWith(2)
      // In less time than the deadline of a call, after which its place would be free for the other.
      assert.isTrue(
        yield* roundsUntil(
          Effect.sync(() => machines.calls.filter((call) => call.startsWith("applyRoles")).length === 2)
        ),
        machines.calls.join("\n")
      )
      for (const { id } of operations) assert.strictEqual((yield* operation(id)).status, "running")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})
