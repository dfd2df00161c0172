/** Holds docs/design/operations.md O3. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { byProxy } from "../../src/services/operations/Operations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Core, Machines, onEndpoint, settle } from "../memory/core.ts"
import { report } from "../memory/use.ts"
import {
  aTeamsProject,
  branchNow,
  endpointNow,
  only,
  operation,
  readyChild,
  readyProject,
  runOne,
  setDesiredState,
  statusesOf
} from "./story.ts"

describe("The operations of a branch", () => {
  it.effect("operations of a branch run one after another, operations of different branches in parallel", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, endpoint, project } = yield* readyProject
      const child = yield* readyChild(ada, project)
      const gate = yield* Deferred.make<void>()
      machines.before = (call) => (call.startsWith(`start ${endpoint.id}`) ? Deferred.await(gate) : Effect.void)
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      // A caller's suspend would cancel the start, and the system's is skipped after a use.
      const suspend = only((yield* setDesiredState(project, endpoint, "idle", byProxy)).operations)
      const elsewhere = only((yield* setDesiredState(project, child.endpoint, "active")).operations)
      const held = yield* Effect.forkChild(runOne)
      yield* TestClock.adjust(1)
      yield* settle
      const statuses = Effect.forEach([start, suspend, elsewhere], ({ id }) =>
        Effect.map(operation(id), ({ status }) => status)
      )
      assert.deepStrictEqual(yield* statuses, ["running", "scheduling", "finished"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(held)
      yield* settle
      assert.deepStrictEqual(yield* statuses, ["finished", "finished", "finished"])
      assert.strictEqual((yield* endpointNow(endpoint.id)).current_state, "idle")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a copy waits in scheduling until its parent is ready", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const branches = yield* Branches
      const { ada, branch, operations, project } = yield* aTeamsProject
      const gate = yield* Deferred.make<void>()
      machines.before = (call) => (call.startsWith(`createBranch ${branch.id}`) ? Deferred.await(gate) : Effect.void)
      const child = yield* branches.create(ada, project, {
        name: null,
        parent_id: null,
        protected: false,
        ttl_seconds: null,
        endpoint: false
      })
      const held = yield* Effect.forkChild(runOne)
      for (let n = 0; n < 5; n++) {
        yield* TestClock.adjust("1 second")
        yield* settle
      }
      const { id } = only(child.operations)
      assert.strictEqual((yield* operation(id)).status, "scheduling")
      assert.strictEqual((yield* operation(only(operations).id)).status, "running")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(held)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "finished"])
      assert.strictEqual((yield* branchNow(project, child.branch.id)).current_state, "ready")
    }).pipe(Effect.provide(Core))
  )

  it.effect("an operation that is no longer needed is skipped or cancelled", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const endpoints = yield* Endpoints
      const projects = yield* Projects
      const { ada, endpoint, project } = yield* readyProject
      const calls = machines.calls.length
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      yield* endpoints.change(ada, onEndpoint, project, endpoint, { disabled: true })
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(start.id), ["scheduling", "cancelled"])
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { generation: 0, pending_state: null })
      assert.strictEqual(machines.calls.length, calls)

      const other = yield* projects.create(ada, { name: "short-lived", region: null })
      yield* projects.remove(ada, other.project)
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(only(other.operations).id), ["scheduling", "skipped"])
      assert.deepStrictEqual(machines.calls.slice(calls), [`deleteBranch ${other.branch.id}`])
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "a system suspend is skipped when the compute was used after its creation, and so is a start after it",
    () =>
      Effect.gen(function* () {
        const machines = yield* Machines
        const { endpoint, project } = yield* readyProject
        yield* setDesiredState(project, endpoint, "active")
        yield* settle
        const calls = machines.calls.length
        const suspend = only((yield* setDesiredState(project, endpoint, "idle")).operations)
        const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
        yield* TestClock.adjust("1 second")
        yield* report(endpoint.id)
        yield* settle
        assert.deepStrictEqual(yield* statusesOf(suspend.id), ["scheduling", "skipped"])
        assert.deepStrictEqual(yield* statusesOf(start.id), ["scheduling", "skipped"])
        assert.deepInclude(
          { ...(yield* endpointNow(endpoint.id)) },
          { current_state: "active", pending_state: null, generation: 1, address: "memory.invalid:1" }
        )
        assert.strictEqual(machines.calls.length, calls)
      }).pipe(Effect.provide(Core))
  )
})
