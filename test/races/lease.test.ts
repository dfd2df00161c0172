/** The lease of an operation: a worker extends it, and stops once another worker has taken the operation over. */
import { assert, layer } from "@effect/vitest"
import {
  ComputeDriver,
  defaultRunnerSettings,
  OperationRunner,
  OperationStore,
  Projects,
  RunnerPolicy
} from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Option } from "effect"
import { eventually } from "../harness/eventually.ts"
import { signIn, world } from "./support/world.ts"

/** Completed when the step of the compute has begun, and when it was interrupted. */
class Step extends Context.Service<
  Step,
  { readonly begun: Deferred.Deferred<void>; readonly left: Deferred.Deferred<void> }
>()("test/races/Step") {
  static readonly layer = Layer.effect(Step, Effect.all({ begun: Deferred.make<void>(), left: Deferred.make<void>() }))
}

/** A compute whose step never ends. */
const endless = Layer.effect(
  ComputeDriver,
  Effect.gen(function* () {
    const computes = yield* ComputeDriver
    const { begun, left } = yield* Step
    return ComputeDriver.of({
      ...computes,
      createBranch: () =>
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.ensuring(Deferred.succeed(left, undefined))
        )
    })
  })
)

// No other worker claims anything here, so a lease that expires on a slow machine changes nothing.
const policy = { ...defaultRunnerSettings, lease: Duration.millis(300), poll: Duration.millis(50) }

const runner = OperationRunner.layerManual.pipe(
  Layer.provide(endless),
  Layer.provide(Layer.succeed(RunnerPolicy, policy)),
  Layer.provideMerge(Layer.merge(world, Step.layer))
)

layer(runner, { excludeTestServices: true })("a worker", (it) => {
  it.effect("a worker extends its lease while it works, and leaves the operation to a worker that took it over", () =>
    Effect.gen(function* () {
      const { runOne } = yield* OperationRunner
      const { begun, left } = yield* Step
      const { find } = yield* OperationStore
      const { query } = yield* Database
      const owner = yield* signIn("owner@example.com")
      const made = yield* (yield* Projects).create(owner, { name: "p", region: null })
      const stored = Effect.forEach(made.operations, ({ id }) => Effect.map(find(id), Option.getOrUndefined))
      const leases = Effect.map(stored, (all) => all.map((it) => it?.lease_until?.epochMilliseconds))

      const working = yield* Effect.forkChild(runOne)
      yield* eventually("the step to begin", Deferred.isDone(begun))
      const [first = 0] = yield* leases
      yield* eventually(
        "the lease to be extended",
        Effect.map(leases, ([now = 0]) => now > first)
      )
      assert.isFalse(yield* Deferred.isDone(left), "the step continues")

      yield* query(
        "test",
        "update narthex.operation set lease_owner = 'other', lease_until = lease_until + interval '1 hour'"
      )
      yield* eventually("the step to be given up", Deferred.isDone(left))
      yield* Fiber.join(working)
      assert.deepStrictEqual(
        (yield* stored).map((operation) => [operation?.status, operation?.lease_owner]),
        [["running", "other"]]
      )
    })
  )
})
