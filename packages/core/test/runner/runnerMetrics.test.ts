/** The metrics of operations: what is due, for how long, and how long operations take (docs/design/operations.md O14). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { layerMeasureBacklog } from "../../src/runner/runnerMetrics.ts"
import { Core, settle } from "../memory/core.ts"
import { readyProject, runOne, scheduled } from "./story.ts"

/** A registry of the test alone. */
const apart = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(test, Metric.MetricRegistry, new Map()))

/** The states of a metric by the value of a label. */
const read = (id: string, label: string) =>
  Effect.map(
    Metric.snapshot,
    (all) => new Map(all.flatMap((it) => (it.id === id ? [[String(it.attributes?.[label]), it.state] as const] : [])))
  )

const values = (id: string) =>
  Effect.map(read(id, "class"), (found) =>
    Object.fromEntries([...found].map(([of, state]) => [of, "value" in state ? state.value : undefined]))
  )

describe("the metrics of operations", () => {
  it.effect("the queue is measured every 15 seconds, with the age of the oldest, and is 0 when all is done", () =>
    Effect.gen(function* () {
      const project = yield* readyProject
      yield* Layer.build(layerMeasureBacklog)
      const none = { computes: 0, roles: 0, branches: 0, deletions: 0 }
      assert.deepStrictEqual(yield* values("narthex_operations_due"), none)
      yield* scheduled(project, "apply_config")
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(yield* values("narthex_operations_due"), { ...none, roles: 1 })
      assert.deepStrictEqual(yield* values("narthex_operations_oldest_due_seconds"), { ...none, roles: 15 })
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* values("narthex_operations_oldest_due_seconds"), { ...none, roles: 45 })
      yield* settle
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(yield* values("narthex_operations_due"), none)
      assert.deepStrictEqual(yield* values("narthex_operations_oldest_due_seconds"), none)
    }).pipe(Effect.provide(Core), Effect.scoped, apart)
  )

  it.effect("an operation is timed from its scheduling to its end, and every series is shown before", () =>
    Effect.gen(function* () {
      const project = yield* readyProject
      yield* Layer.build(layerMeasureBacklog)
      const before = (yield* read("narthex_operation_seconds", "action")).get("apply_config")
      assert.deepInclude({ ...before }, { count: 0, sum: 0 })
      const tries = yield* read("narthex_operation_tries_total", "outcome")
      assert.sameMembers([...tries.keys()], ["finished", "failed", "busy", "abandoned"])
      yield* scheduled(project, "apply_config")
      yield* TestClock.adjust("20 seconds")
      yield* runOne
      const after = (yield* read("narthex_operation_seconds", "action")).get("apply_config")
      assert.deepInclude({ ...after }, { count: 1, sum: 20 })
    }).pipe(Effect.provide(Core), Effect.scoped, apart)
  )
})
