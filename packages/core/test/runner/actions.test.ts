/** The changes of actions at their start and at their end when they fail, repeat or overlap. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Core, Machines, settle } from "../memory/core.ts"
import {
  branchNow,
  endpointNow,
  onBranch,
  only,
  operation,
  readyChild,
  readyProject,
  runOne,
  setDesiredState,
  statusesOf
} from "./story.ts"

describe("A start", () => {
  it.effect("a start and a suspend that are skipped leave nothing pending", () =>
    Effect.gen(function* () {
      const { endpoint, project } = yield* readyProject
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const suspend = only((yield* setDesiredState(project, endpoint, "idle")).operations)
      const store = yield* EndpointStore
      yield* store.put(new Endpoint({ ...(yield* endpointNow(endpoint.id)), disabled: true }))
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(start.id), ["scheduling", "skipped"])
      assert.deepStrictEqual(yield* statusesOf(suspend.id), ["scheduling", "skipped"])
      assert.isNull((yield* endpointNow(endpoint.id)).pending_state)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a start removes the address of the previous compute at once", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      yield* (yield* EndpointStore).put(
        new Endpoint({ ...endpoint, current_state: "idle", address: "stale.invalid:1" })
      )
      yield* setDesiredState(project, endpoint, "active")
      machines.before = () => Effect.fail(new ComputeFailed({ reason: "busy", retryable: true }))
      yield* runOne
      assert.deepInclude(
        { ...(yield* endpointNow(endpoint.id)) },
        { address: null, pending_state: "active", generation: 1 }
      )
    }).pipe(Effect.provide(Core))
  )

  it.effect("a start counts as use of the compute", () =>
    Effect.gen(function* () {
      const { endpoint, project } = yield* readyProject
      yield* setDesiredState(project, endpoint, "active")
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.deepStrictEqual((yield* endpointNow(endpoint.id)).last_active_at, yield* DateTime.now)
    }).pipe(Effect.provide(Core))
  )

  it.effect("an endpoint is not pending after a start when its newest unfinished operation is another start", () =>
    Effect.gen(function* () {
      const { endpoint, project } = yield* readyProject
      yield* setDesiredState(project, endpoint, "active")
      yield* setDesiredState(project, endpoint, "idle")
      yield* setDesiredState(project, endpoint, "active")
      yield* runOne
      const states = yield* endpointNow(endpoint.id)
      assert.deepInclude({ ...states }, { current_state: "active", pending_state: null })
    }).pipe(Effect.provide(Core))
  )
})

describe("A copy of a branch", () => {
  it.effect("a copy does not wait for a start of its parent's compute", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, branch, endpoint, project } = yield* readyProject
      yield* setDesiredState(project, endpoint, "active")
      machines.before = () => Effect.fail(new ComputeFailed({ reason: "busy", retryable: true }))
      yield* runOne
      machines.before = () => Effect.void
      const made = yield* (yield* Branches).create(ada, project, {
        name: null,
        parent_id: branch.id,
        protected: false,
        ttl_seconds: null,
        endpoint: false
      })
      yield* settle
      assert.strictEqual((yield* branchNow(project, made.branch.id)).current_state, "ready")
    }).pipe(Effect.provide(Core))
  )
})

describe("A reset", () => {
  it.effect("a reset that fails for good leaves the branch ready with the data it had", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, project } = yield* readyProject
      const { branch } = yield* readyChild(ada, project)
      const reset = only((yield* (yield* Branches).reset(ada, onBranch, branch)).operations)
      machines.before = () => Effect.fail(new ComputeFailed({ reason: "no room", retryable: false }))
      yield* settle
      assert.strictEqual((yield* operation(reset.id)).status, "error")
      assert.deepInclude({ ...(yield* branchNow(project, branch.id)) }, { current_state: "ready", pending_state: null })
    }).pipe(Effect.provide(Core))
  )
})
