/** The polling loop of `OperationRunner.layer`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ComputeFailed } from "../../src/computes/ComputeDriver.ts"
import type { OperationId } from "../../src/Ids.ts"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { Projects } from "../../src/provisioning/Projects.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { Core, Machines, signedIn, until } from "../memory/core.ts"

const newProject = Effect.gen(function* () {
  const projects = yield* Projects
  const { operations } = yield* projects.create(yield* signedIn("ada"), { name: "shop", region: null })
  const [operation] = operations
  if (operation === undefined) throw new Error("no operation")
  return operation.id
})

const statusOf = Effect.fnUntraced(function* (id: OperationId) {
  return Option.getOrThrow(yield* (yield* OperationStore).find(id)).status
})

describe("The runner", () => {
  it.effect("the runner finds due operations by polling, and retries them when they are due again", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      yield* Layer.build(OperationRunner.layer)
      let failures = 1
      machines.before = () =>
        failures-- > 0 ? Effect.fail(new ComputeFailed({ reason: "busy", retryable: true })) : Effect.void
      const status = statusOf(yield* newProject)
      assert.strictEqual(yield* status, "scheduling")
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* status, "running")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* status, "finished")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a nudge makes the runner look at once", () =>
    Effect.gen(function* () {
      const runner = yield* Layer.build(OperationRunner.layer)
      yield* TestClock.adjust(1)
      const status = statusOf(yield* newProject)
      yield* Effect.provide(
        Effect.flatMap(OperationRunner, ({ nudge }) => nudge),
        runner
      )
      yield* until(Effect.map(status, (it) => it === "finished"))
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("the runner stops with its scope, and its operation is claimed again after the lease", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(OperationRunner.layer, scope)
      machines.before = () => Effect.never
      const status = statusOf(yield* newProject)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* status, "running")
      yield* Scope.close(scope, Exit.void)
      machines.before = () => Effect.void
      yield* Layer.build(Layer.fresh(OperationRunner.layer))
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* status, "running")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* status, "finished")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})
