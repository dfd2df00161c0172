/**
 * A worker may die between any two lines. Here it dies before and after every transaction and every call to the driver,
 * once each, and another worker must bring the operation to the same end.
 * Holds docs/design/operations.md O1.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { ComputeDriver } from "../../src/records/computes/ComputeDriver.ts"
import { OperationAction, type StoredOperation } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import type { EndpointState } from "../../src/records/projects/Endpoint.ts"
import { SizeCatalog } from "../../src/records/projects/EndpointSize.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { changes } from "../../src/rules/authorization/Policy.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { bySystem, initiatorOf, Operations } from "../../src/services/operations/Operations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Transaction } from "../../src/Transaction.ts"
import { testSizes } from "../../testing/sizes.ts"
import { anotherRunner, Boundary, logged, Machines, MortalCore, onEndpoint, settle, signedIn } from "../memory/core.ts"

const onBranch = changes("write", "change_projects", "branch")

/** A project with a child branch whose endpoint is suspended. */
const setting = Effect.gen(function* () {
  const branches = yield* Branches
  const projects = yield* Projects
  const ada = yield* signedIn("ada")
  const { project } = yield* projects.create(ada, { name: "shop", region: null })
  const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
  yield* settle
  const made = yield* branches.create(ada, project, wanted)
  yield* settle
  if (made.endpoint === null) throw new Error("no endpoint")
  return { ada, project, branch: made.branch, endpoint: made.endpoint, wanted }
})
type Setting = Effect.Success<typeof setting>

const start = Effect.fnUntraced(function* ({ endpoint, project }: Setting) {
  return (yield* (yield* Endpoints).setDesiredState(project, endpoint.id, "active", bySystem)).operations
})

/** Every action, and the start of a compute that runs, for its size. */
const cases = [...OperationAction.literals, "start_compute for another size"] as const
type Case = (typeof cases)[number]

/**
 * The start of each action, and the state once it is over: of the operation's endpoint, or else of the setting's, of
 * all computes, and of the branches of the operation's project.
 */
const actions: Record<
  Case,
  {
    readonly begin: (
      setting: Setting
    ) => Effect.Effect<ReadonlyArray<StoredOperation>, unknown, Layer.Success<typeof MortalCore>>
    readonly end: {
      readonly current_state?: EndpointState
      readonly generation?: number
      readonly running: number
      readonly branches?: number
    }
  }
> = {
  create_timeline: {
    begin: Effect.fnUntraced(function* ({ ada }) {
      return (yield* (yield* Projects).create(ada, { name: "warehouse", region: null })).operations
    }),
    end: { current_state: "idle", running: 0, branches: 1 }
  },
  create_compute: {
    begin: Effect.fnUntraced(function* ({ ada, branch, endpoint, project }) {
      const endpoints = yield* Endpoints
      yield* endpoints.remove(ada, onEndpoint, project, endpoint)
      yield* settle
      const wanted = { branch_id: branch.id, type: "read_write", suspend_timeout_seconds: null } as const
      return (yield* endpoints.create(ada, project, wanted)).operations
    }),
    end: { current_state: "idle", generation: 0, running: 0 }
  },
  start_compute: { begin: start, end: { current_state: "active", generation: 1, running: 1 } },
  "start_compute for another size": {
    begin: Effect.fnUntraced(function* (setting) {
      yield* start(setting)
      yield* settle
      const { ada, endpoint, project } = setting
      const changed = (yield* Endpoints).change(ada, onEndpoint, project, endpoint, { size: "large" })
      return (yield* Effect.provideService(changed, SizeCatalog, testSizes)).operations
    }),
    end: { current_state: "active", generation: 2, running: 1 }
  },
  suspend_compute: {
    begin: Effect.fnUntraced(function* (setting) {
      yield* start(setting)
      yield* settle
      const { ada, endpoint, project } = setting
      return (yield* (yield* Endpoints).setDesiredState(project, endpoint.id, "idle", initiatorOf(ada))).operations
    }),
    end: { current_state: "idle", generation: 1, running: 0 }
  },
  apply_config: {
    begin: Effect.fnUntraced(function* (setting) {
      yield* start(setting)
      yield* settle
      const { run } = yield* Transaction
      const { schedule } = yield* Operations
      const { branch, project } = setting
      const work = { project, branch_id: branch.id, endpoint_id: null, initiator: bySystem } as const
      return [yield* run(schedule({ ...work, action: "apply_config" }))]
    }),
    end: { current_state: "active", generation: 1, running: 1 }
  },
  delete_compute: {
    begin: Effect.fnUntraced(function* (setting) {
      yield* start(setting)
      yield* settle
      return yield* (yield* Endpoints).remove(setting.ada, onEndpoint, setting.project, setting.endpoint)
    }),
    end: { running: 0, branches: 2 }
  },
  create_branch: {
    begin: Effect.fnUntraced(function* ({ ada, project, wanted }) {
      return (yield* (yield* Branches).create(ada, project, wanted)).operations
    }),
    end: { current_state: "idle", running: 0, branches: 3 }
  },
  reset_branch: {
    begin: Effect.fnUntraced(function* (setting) {
      yield* start(setting)
      yield* settle
      return (yield* (yield* Branches).reset(setting.ada, onBranch, setting.branch)).operations
    }),
    end: { current_state: "idle", generation: 1, running: 0 }
  },
  delete_timeline: {
    begin: Effect.fnUntraced(function* (setting) {
      yield* start(setting)
      yield* settle
      return yield* (yield* Branches).remove(setting.ada, onBranch, setting.branch)
    }),
    end: { running: 0, branches: 1 }
  }
}

/** Lets the worker die at boundary `fatal`. Returns whether it reached that boundary. */
const dieAt = Effect.fnUntraced(function* (fatal: number, setting: Setting, action: Case) {
  const boundary = yield* Boundary
  const machines = yield* Machines
  const { runOne } = yield* OperationRunner
  const [operation] = yield* actions[action].begin(setting)
  assert.strictEqual(operation?.action, action.split(" ")[0])
  let crossed = 0
  const cross = Effect.suspend(() => (++crossed === fatal ? Effect.interrupt : Effect.void))
  Object.assign(boundary, { cross })
  Object.assign(machines, { before: () => cross, after: () => cross })
  const fiberExit = yield* Effect.exit(runOne)
  Object.assign(boundary, { cross: Effect.void })
  Object.assign(machines, { before: () => Effect.void, after: () => Effect.void })
  return { died: Exit.isFailure(fiberExit), operation }
})

describe("An operation whose worker dies", () => {
  for (const action of cases)
    it.effect(`${action} whose worker dies at any boundary is finished once by another worker`, () =>
      Effect.gen(function* () {
        let deaths = 0
        for (let fatal = 1; ; fatal++) {
          const died = yield* Effect.gen(function* () {
            const given = yield* setting
            const { died, operation } = yield* dieAt(fatal, given, action)
            if (operation === undefined) return false
            const other = yield* anotherRunner
            if (died) {
              const settledAlready = yield* statusOf(operation)
              if (settledAlready !== "finished") assert.isFalse(yield* other, "the lease still holds")
              yield* TestClock.adjust("31 seconds")
            }
            while (yield* other);

            assert.strictEqual(yield* statusOf(operation), "finished")
            const updates = (yield* logged).filter(({ data }) => data["operation_id"] === operation.id)
            assert.deepStrictEqual(
              updates.map(({ data }) => data["status"]),
              ["scheduling", "running", "finished"]
            )
            const { branches, running, ...end } = actions[action].end
            assert.strictEqual((yield* (yield* ComputeDriver).running).length, running)
            const endpoint = Option.getOrUndefined(
              yield* (yield* EndpointStore).findAnywhere(operation.endpoint_id ?? given.endpoint.id)
            )
            if (end.current_state === undefined) assert.isUndefined(endpoint)
            else assert.deepInclude({ ...endpoint }, { ...end, pending_state: null })
            const list = yield* (yield* BranchStore).list(operation.project_id, null, { limit: 10, after: null })
            assert.isTrue(
              list.items.every(
                ({ current_state, pending_state }) => current_state === "ready" && pending_state === null
              )
            )
            if (branches !== undefined) assert.strictEqual(list.items.length, branches)
            return died
          }).pipe(Effect.scoped, Effect.provide(Layer.fresh(MortalCore)))
          if (!died) break
          deaths++
        }
        // `create_compute` does not call the driver.
        const calls = action === "create_compute" ? 0 : 1
        assert.isAtLeast(deaths, 4 + 2 * calls, "two transactions and a call, before and after each")
      })
    )
})

const statusOf = ({ id }: StoredOperation) =>
  Effect.flatMap(OperationStore, (store) => Effect.map(store.find(id), (row) => Option.getOrThrow(row).status))
