/** What an operation changes at its start and at its end, where nothing goes as usual. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { ComputeFailed } from "../../src/computes/ComputeDriver.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { Branches } from "../../src/provisioning/Branches.ts"
import { EndpointStore } from "../../src/projects/EndpointStore.ts"
import { Endpoint } from "../../src/projects/Endpoint.ts"
import { Core, Machines, settle } from "../memory/core.ts"
import {
  branchNow,
  endpointNow,
  setDesiredState,
  onBranch,
  only,
  operation,
  readyChild,
  readyProject
} from "./story.ts"

const runOne = Effect.flatMap(OperationRunner, (runner) => runner.runOne)

describe("A start", () => {
  it.effect("answers no address of an earlier compute while it is under way", () =>
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

  it.effect("counts as a use of its compute", () =>
    Effect.gen(function* () {
      const { endpoint, project } = yield* readyProject
      yield* setDesiredState(project, endpoint, "active")
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.deepStrictEqual((yield* endpointNow(endpoint.id)).last_active_at, yield* DateTime.now)
    }).pipe(Effect.provide(Core))
  )

  it.effect("behind which a suspend waits leaves its endpoint headed for rest", () =>
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
  it.effect("does not wait for what only starts its original's compute", () =>
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
  it.effect("that failed for good leaves the branch ready as it was", () =>
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
