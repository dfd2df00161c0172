/** The queue of a branch whose first operation does not end (docs/design/operations.md O23, O24). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { times } from "../../../../test/harness/long.ts"
import { ResourceBusy } from "../../src/Refusals.ts"
import { mostUnfinished, OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { defaultQuotas, QuotaPolicy } from "../../src/records/quotas/Quota.ts"
import { Operations } from "../../src/services/operations/Operations.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Quotas } from "../../src/services/quotas/Quotas.ts"
import { Transaction } from "../../src/Transaction.ts"
import { Core, Machines, onEndpoint, settle, until } from "../memory/core.ts"
import {
  endpointNow,
  operation,
  readyProject,
  runningProject,
  scheduled,
  setDesiredState,
  statusesOf
} from "../runner/story.ts"

const many = times(100, 1000)

type Given = Effect.Success<typeof readyProject>

const waitingOn = ({ branch }: Given) =>
  Effect.flatMap(OperationStore, (store) =>
    Effect.map(store.unfinished(branch.id), (found) => found.map(({ action, status }) => `${action} ${status}`))
  )

/** Schedules roles to be applied, and a runner that never comes to an end with it. */
const stuck = Effect.fnUntraced(function* (given: Given) {
  const { run } = yield* Transaction
  const { move } = yield* Operations
  yield* run(move(yield* scheduled(given, "apply_config"), "running"))
})

const bring = (given: Given, state: "active" | "idle") =>
  Endpoints.use((endpoints) => endpoints.bring(given.ada, onEndpoint, given.project, given.endpoint, state))

describe("A branch whose operations are stuck", () => {
  it.effect(`${many} mints leave one operation that applies roles and one behind it, which serves all of them`, () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { mint } = yield* Credentials
      const given = yield* runningProject
      yield* stuck(given)
      const minting = yield* Effect.forEach(
        Array.from({ length: many }),
        () => Effect.forkChild(mint(given.ada, given.project, given.branch, "read_only", null)),
        { concurrency: 1 }
      )
      const roles = Effect.flatMap(BranchRoleStore, (store) => store.present(given.branch.id))
      yield* until(Effect.map(roles, ({ length }) => length === many))
      assert.deepStrictEqual(yield* waitingOn(given), ["apply_config running", "apply_config scheduling"])
      const store = yield* OperationStore
      const [first, second] = yield* store.unfinished(given.branch.id)
      if (first === undefined || second === undefined) throw new Error("nothing waits")
      yield* (yield* Transaction).run((yield* Operations).move(yield* operation(first.id), "finished"))
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* Effect.forEach(minting, Fiber.join)
      assert.lengthOf(machines.roles.get(given.branch.id) ?? [], many)
    }).pipe(
      Effect.provideService(QuotaPolicy, { ...defaultQuotas, credentials_per_branch: many, personal_percent: 100 }),
      Effect.provide(Core)
    )
  )

  for (const [name, given] of [
    ["suspended", readyProject],
    ["running", runningProject]
  ] as const)
    it.effect(`${many} starts and suspends of a ${name} endpoint in turn leave at most two operations`, () =>
      Effect.gen(function* () {
        const story = yield* given
        yield* stuck(story)
        let most = 0
        for (let n = 0; n < many; n++) {
          yield* bring(story, n % 2 === 0 ? "idle" : "active")
          most = Math.max(most, (yield* waitingOn(story)).length)
        }
        assert.isAtMost(most, 2)
      }).pipe(Effect.provide(Core))
    )

  it.effect("a start behind a start that runs is scheduled once, however often a suspend came between", () =>
    Effect.gen(function* () {
      const given = yield* readyProject
      const { operations } = yield* bring(given, "active")
      const [start] = operations
      if (start === undefined) throw new Error("nothing was scheduled")
      yield* (yield* Transaction).run((yield* Operations).move(start, "running"))
      for (let n = 0; n < 10; n++) {
        yield* bring(given, "idle")
        assert.deepStrictEqual((yield* bring(given, "active")).operations, [yield* operation(start.id)])
      }
      assert.deepStrictEqual(yield* waitingOn(given), ["start_compute running"])
    }).pipe(Effect.provide(Core))
  )
})

describe("A start or suspend that has not begun", () => {
  it.effect("is cancelled by a caller's opposite, and gives its place in the quota back", () =>
    Effect.gen(function* () {
      const given = yield* readyProject
      const quotas = yield* Quotas
      const running = Effect.map(
        quotas.usage({ id: given.project.org_id, personal: false }),
        (usage) => usage.find(({ quota }) => quota === "running_computes")?.held
      )
      const { operations } = yield* bring(given, "active")
      const [start] = operations
      if (start === undefined) throw new Error("nothing was scheduled")
      assert.strictEqual(yield* running, 1)
      const answer = yield* bring(given, "idle")
      assert.deepStrictEqual(answer.operations, [])
      assert.deepInclude({ ...answer.endpoint }, { current_state: "idle", pending_state: null })
      assert.deepStrictEqual(yield* statusesOf(start.id), ["scheduling", "cancelled"])
      assert.strictEqual(yield* running, 0)
    }).pipe(Effect.provide(Core))
  )

  it.effect("is left alone by the system, whose suspend waits its turn", () =>
    Effect.gen(function* () {
      const given = yield* readyProject
      yield* bring(given, "active")
      yield* setDesiredState(given.project, given.endpoint, "idle")
      assert.deepStrictEqual(yield* waitingOn(given), ["start_compute scheduling", "suspend_compute scheduling"])
    }).pipe(Effect.provide(Core))
  )
})

describe("A branch with as many operations as may wait on it", () => {
  const full = <E, R>(story: Effect.Effect<Given, E, R>) =>
    Effect.tap(story, (given) =>
      Effect.forEach(Array.from({ length: mostUnfinished }), () => scheduled(given, "create_compute"), {
        concurrency: 1
      })
    )

  it.effect("starts and new endpoints are refused with their number and the operation that comes first", () =>
    Effect.gen(function* () {
      const given = yield* full(readyProject)
      const { create } = yield* Endpoints
      const [first] = yield* (yield* OperationStore).unfinished(given.branch.id)
      const wanted = { branch_id: given.branch.id, type: "read_only" as const, suspend_timeout_seconds: null }
      const refusals = [
        yield* Effect.flip(create(given.ada, given.project, wanted)),
        yield* Effect.flip(bring(given, "active"))
      ]
      for (const refusal of refusals) {
        assert.instanceOf(refusal, ResourceBusy)
        assert.include(refusal.message, `${mostUnfinished} operations wait on this branch`)
        assert.include(refusal.message, first?.id ?? "none")
      }
    }).pipe(Effect.provide(Core))
  )

  it.effect("suspending, disabling, revoking and deleting always find room", () =>
    Effect.gen(function* () {
      const given = yield* full(runningProject)
      const endpoints = yield* Endpoints
      const { ada, endpoint, project } = given
      yield* endpoints.change(ada, onEndpoint, project, endpoint, { disabled: true })
      assert.strictEqual((yield* endpointNow(endpoint.id)).pending_state, "idle")
      assert.lengthOf(yield* endpoints.remove(ada, onEndpoint, project, endpoint), 1)
    }).pipe(Effect.provide(Core))
  )
})
