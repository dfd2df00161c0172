/** Machines without room, and promises that have to be kept. Holds docs/design/operations.md O12. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, References } from "effect"
import { TestClock } from "effect/testing"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { busyPause } from "../../src/runner/afterFailure.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Core, Machines, settle, until } from "../memory/core.ts"
import {
  endpointNow,
  onBranch,
  only,
  operation,
  readyChild,
  readyProject,
  scheduled,
  setDesiredState,
  statusesOf
} from "./story.ts"

describe("Machines without room", () => {
  const full = new ComputeFailed({ reason: "Five other branches are being copied.", retryable: true, busy: true })

  it.effect("an operation waits for room without counting failures, however often it finds none", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, project } = yield* readyProject
      let tries = 0
      machines.before = () => Effect.suspend(() => (++tries <= 20 ? Effect.fail(full) : Effect.void))
      const made = yield* (yield* Branches).create(ada, project, {
        name: null,
        parent_id: null,
        protected: false,
        ttl_seconds: null,
        endpoint: false
      })
      const { id } = only(made.operations)
      yield* settle
      const waiting = yield* operation(id)
      assert.deepInclude({ ...waiting }, { status: "running", failures_count: 0, error: full.reason })
      assert.isNotNull(waiting.retry_at)
      yield* until(
        Effect.gen(function* () {
          yield* TestClock.adjust("15 seconds")
          yield* settle
          return (yield* operation(id)).status === "finished"
        })
      )
      assert.strictEqual(tries, 21)
      assert.deepInclude({ ...(yield* operation(id)) }, { failures_count: 0, error: null, busy_since: null })
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "finished"])
    }).pipe(Effect.provide(Core))
  )

  it.effect("an operation that finds no room for an hour fails with a sentence", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      machines.before = () => Effect.fail(full)
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      yield* settle
      yield* TestClock.adjust("59 minutes")
      yield* settle
      assert.strictEqual((yield* operation(id)).status, "running")
      yield* TestClock.adjust("61 seconds")
      yield* settle
      const failed = yield* operation(id)
      assert.deepInclude({ ...failed }, { status: "failed", failures_count: 0 })
      assert.strictEqual(failed.error, `${full.reason} This did not change for 1h.`)
      assert.isNull((yield* endpointNow(endpoint.id)).pending_state)
    }).pipe(Effect.provide(Core))
  )

  it("the pause of an operation without room grows to a quarter of a minute and is never regular", () => {
    const millis = (waited: Duration.Input, random: number) =>
      Duration.toMillis(busyPause(Duration.fromInputUnsafe(waited), random))
    assert.strictEqual(millis(0, 0), 500)
    assert.strictEqual(millis(0, 1), 1000)
    assert.strictEqual(millis("20 seconds", 1), 5000)
    assert.strictEqual(millis("1 hour", 0), 7500)
    assert.strictEqual(millis("1 hour", 1), 15_000)
  })
})

describe("A promise", () => {
  const broken = [
    new ComputeFailed({ reason: "too many clients", retryable: true }),
    new ComputeFailed({ reason: "not this one", retryable: false }),
    new ComputeFailed({ reason: "locked", retryable: true, busy: true })
  ]

  for (const [n, failure] of broken.entries())
    for (const action of ["apply_config", "delete_timeline", "delete_compute"] as const)
      it.effect(`${action} is tried until it has succeeded, whatever the failure (${n + 1})`, () =>
        Effect.gen(function* () {
          const machines = yield* Machines
          const given = yield* readyProject
          yield* setDesiredState(given.project, given.endpoint, "active")
          yield* settle
          machines.before = () => Effect.fail(failure)
          const made =
            action === "delete_compute"
              ? only(yield* (yield* Endpoints).remove(given.ada, onBranch, given.project, given.endpoint))
              : yield* scheduled(given, action)
          for (let tries = 0; tries < 12; tries++) {
            yield* settle
            yield* TestClock.adjust("30 seconds")
          }
          assert.strictEqual((yield* operation(made.id)).status, "running")
          machines.before = () => Effect.void
          yield* settle
          assert.deepStrictEqual(yield* statusesOf(made.id), ["scheduling", "running", "finished"])
        }).pipe(Effect.provide(Core), Effect.provideService(References.MinimumLogLevel, "None"))
      )

  it.effect("roles of a branch that was deleted are no longer applied, and its deletion follows", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* readyProject
      const child = yield* readyChild(given.ada, given.project)
      machines.before = (call) =>
        call.startsWith("applyRoles") ? Effect.fail(broken[0] as ComputeFailed) : Effect.void
      const stuck = yield* scheduled({ ...given, branch: child.branch }, "apply_config")
      yield* settle
      yield* (yield* Projects).remove(given.ada, given.project)
      for (let tries = 0; tries < 6; tries++) {
        yield* TestClock.adjust("1 minute")
        yield* settle
      }
      assert.strictEqual((yield* operation(stuck.id)).status, "failed")
      assert.include(machines.calls, `deleteBranch ${child.branch.id}`)
    }).pipe(Effect.provide(Core), Effect.provideService(References.MinimumLogLevel, "None"))
  )
})
