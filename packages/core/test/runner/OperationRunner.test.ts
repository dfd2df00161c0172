import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import type { OperationId } from "../../src/Ids.ts"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import type { OperationAction, StoredOperation } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { bySystem, Operations } from "../../src/services/operations/Operations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Transaction } from "../../src/Transaction.ts"
import { Core, logged, Machines, onEndpoint, settle, until } from "../memory/core.ts"
import { pass } from "../memory/use.ts"
import {
  aTeamsProject,
  branchNow,
  endpointNow,
  onBranch,
  only,
  operation,
  readyProject,
  setDesiredState,
  statusesOf
} from "./story.ts"

describe("Every action", () => {
  it.effect(
    "every action goes through scheduling and running to finished, with an event each, and reaches the driver",
    () =>
      Effect.gen(function* () {
        const machines = yield* Machines
        const branches = yield* Branches
        const endpoints = yield* Endpoints
        const credentials = yield* Credentials
        const projects = yield* Projects
        const seen = new Map<OperationAction, StoredOperation>()
        const finish = Effect.fnUntraced(function* (operations: ReadonlyArray<StoredOperation>) {
          const made = only(operations)
          yield* settle
          seen.set(made.action, yield* operation(made.id))
          assert.deepStrictEqual(yield* statusesOf(made.id), ["scheduling", "running", "finished"], made.action)
        })

        const { ada, branch, endpoint, operations, project } = yield* aTeamsProject
        assert.strictEqual((yield* branchNow(project, branch.id)).current_state, "init")
        yield* finish(operations)
        assert.strictEqual((yield* branchNow(project, branch.id)).current_state, "ready")
        assert.isNull((yield* branchNow(project, branch.id)).pending_state)
        assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "idle", pending_state: null })

        const child = yield* branches.create(ada, project, {
          name: "child",
          parent_id: null,
          protected: false,
          ttl_seconds: null,
          endpoint: false
        })
        yield* finish(child.operations)
        const made = yield* endpoints.create(ada, project, {
          branch_id: child.branch.id,
          type: "read_write",
          suspend_timeout_seconds: null
        })
        yield* finish(made.operations)
        yield* finish((yield* setDesiredState(project, made.endpoint, "active")).operations)
        assert.deepInclude(
          { ...(yield* endpointNow(made.endpoint.id)) },
          {
            current_state: "active",
            pending_state: null,
            generation: 1,
            address: "memory.invalid:1",
            suspended_at: null
          }
        )
        const minting = yield* Effect.forkChild(credentials.mint(ada, project, child.branch, "read_write", null))
        const store = yield* OperationStore
        yield* until(Effect.map(store.unfinished(child.branch.id), (found) => found.length > 0))
        yield* finish(yield* store.unfinished(child.branch.id))
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(minting)
        yield* pass(300)
        yield* finish((yield* setDesiredState(project, made.endpoint, "idle")).operations)
        const asleep = yield* endpointNow(made.endpoint.id)
        assert.deepInclude({ ...asleep }, { current_state: "idle", pending_state: null, address: null, generation: 1 })
        assert.isNotNull(asleep.suspended_at)
        yield* finish((yield* branches.reset(ada, onBranch, child.branch)).operations)
        assert.strictEqual((yield* branchNow(project, child.branch.id)).current_state, "ready")
        yield* finish(yield* endpoints.remove(ada, onEndpoint, project, made.endpoint))
        yield* finish(yield* branches.remove(ada, onBranch, child.branch))
        yield* projects.remove(ada, project)
        yield* settle

        assert.sameMembers(
          [...seen.keys()],
          [
            "create_timeline",
            "create_branch",
            "create_compute",
            "start_compute",
            "apply_config",
            "suspend_compute",
            "reset_branch",
            "delete_compute",
            "delete_timeline"
          ]
        )
        for (const { error, failures_count, finished_at, lease_owner, retry_at, started_at } of seen.values()) {
          assert.deepStrictEqual(
            { error, failures_count, lease_owner, retry_at },
            { error: null, failures_count: 0, lease_owner: null, retry_at: null }
          )
          assert.isNotNull(started_at)
          assert.isNotNull(finished_at)
        }
        assert.deepStrictEqual(
          machines.calls.map((call) => call.split(" ")[0]),
          [
            "createBranch",
            "createBranch",
            "start",
            "applyRoles",
            "stop",
            "resetBranch",
            "stop",
            "deleteBranch",
            "deleteBranch"
          ]
        )
      }).pipe(Effect.provide(Core))
  )
})

describe("The events of operations", () => {
  it.effect("operation events leave out members without a value", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, branch, endpoint, operations, project } = yield* readyProject
      const [first] = (yield* logged).filter(({ data }) => data["operation_id"] === only(operations).id)
      assert.deepStrictEqual(first?.data, {
        operation_id: only(operations).id,
        action: "create_timeline",
        status: "scheduling",
        branch_id: branch.id,
        endpoint_id: endpoint.id,
        initiator: { type: "user", id: ada.user.id, name: "ada@example.com" }
      })
      assert.strictEqual(first?.project_id, project.id)
      assert.strictEqual(first?.source, "operations")

      machines.before = () => Effect.fail(new ComputeFailed({ reason: "no disk", retryable: false }))
      const started = only((yield* setDesiredState(project, endpoint, "active")).operations)
      yield* settle
      const last = (yield* logged).findLast(({ data }) => data["operation_id"] === started.id)
      assert.deepStrictEqual(last?.data, {
        operation_id: started.id,
        action: "start_compute",
        status: "error",
        branch_id: branch.id,
        endpoint_id: endpoint.id,
        error: "no disk",
        initiator: { type: "system" }
      })
    }).pipe(Effect.provide(Core))
  )

  it.effect("a transaction that rolls back emits no operation event", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      const operations = yield* Operations
      const store = yield* OperationStore
      const { branch, project } = yield* readyProject
      const before = yield* logged
      const work = {
        project,
        branch_id: branch.id,
        endpoint_id: null,
        action: "apply_config",
        initiator: bySystem
      } as const
      let made: OperationId | undefined
      const undone = Effect.gen(function* () {
        const scheduled = yield* operations.schedule(work)
        made = scheduled.id
        yield* operations.move(scheduled, "running")
        return yield* Effect.fail("undone" as const)
      })
      assert.strictEqual(yield* Effect.flip(run(undone)), "undone")
      assert.deepStrictEqual(yield* logged, before)
      assert.isDefined(made)
      if (made !== undefined) assert.isTrue(Option.isNone(yield* store.find(made)))
    }).pipe(Effect.provide(Core))
  )

  it.effect("scheduling outside of a transaction and an illegal move both fail", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      const operations = yield* Operations
      const { branch, project } = yield* readyProject
      const work = {
        project,
        branch_id: branch.id,
        endpoint_id: null,
        action: "apply_config",
        initiator: bySystem
      } as const
      assert.strictEqual((yield* Effect.exit(operations.schedule(work)))._tag, "Failure")
      const scheduled = yield* run(operations.schedule(work))
      const before = yield* logged
      assert.strictEqual((yield* Effect.exit(run(operations.move(scheduled, "finished"))))._tag, "Failure")
      assert.deepStrictEqual(yield* logged, before)
    }).pipe(Effect.provide(Core))
  )
})
