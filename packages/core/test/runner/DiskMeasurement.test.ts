/** When branches are measured, and what a machine that does not answer does to that. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { BranchId } from "../../src/Ids.ts"
import { type BranchDiskUsage, ComputeDriver, ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { EventFeed } from "../../src/records/events/EventFeed.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { DiskMeasurement } from "../../src/runner/DiskMeasurement.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { BranchSizes } from "../../src/services/quotas/BranchSizes.ts"
import { Quotas } from "../../src/services/quotas/Quotas.ts"
import { Core, settle, turn } from "../memory/core.ts"
import { hangs, onBranch, readyProject } from "./story.ts"

/** Lets other fibers run; no time passes. */
const turns = Effect.repeat(Effect.andThen(Effect.yieldNow, turn), { times: 20 })

const pass = (time: Parameters<typeof TestClock.adjust>[0]) => Effect.andThen(TestClock.adjust(time), turns)

/** Runs the loop on a machine that answers as `machine.answer` says. */
const measuring = Effect.gen(function* () {
  const driver = yield* ComputeDriver
  const machine = {
    asked: 0,
    answer: driver.diskUsage
  }
  const double = ComputeDriver.of({
    ...driver,
    diskUsage: Effect.suspend(() => {
      machine.asked++
      return machine.answer
    })
  })
  yield* (yield* EventFeed).refresh
  const measurement = Layer.provide(Layer.fresh(DiskMeasurement.layer), Layer.succeed(ComputeDriver, double))
  yield* Layer.build(Layer.provide(DiskMeasurement.layerLoop, measurement))
  yield* turns
  return machine
})

const usage = (branch_id: BranchId, bytes: number) =>
  Effect.succeed<ReadonlyArray<BranchDiskUsage>>([{ branch_id, bytes }])

const sizeOf = (branch: { readonly id: BranchId }) =>
  Effect.flatMap(BranchSizes, ({ of }) => Effect.map(of([branch]), (sizes) => sizes.get(branch.id)?.size_bytes))

const copy = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: false }

/** Creates a branch, and returns when its operation has finished and every instance knows. */
const created = Effect.fnUntraced(function* ({ ada, project }: Effect.Success<typeof readyProject>) {
  const { branch } = yield* (yield* Branches).create(ada, project, copy)
  yield* settle
  yield* (yield* EventFeed).refresh
  yield* turns
  return branch
})

describe("the sizes of branches", () => {
  it.effect("branches are measured at the start and once a minute", () =>
    Effect.gen(function* () {
      const { branch } = yield* readyProject
      const machine = yield* measuring
      assert.strictEqual(yield* sizeOf(branch), 32 * 1024 ** 2)
      machine.answer = usage(branch.id, 7)
      yield* pass("59 seconds")
      assert.strictEqual(machine.asked, 1)
      yield* pass("1 second")
      assert.strictEqual(yield* sizeOf(branch), 7)
      assert.strictEqual(machine.asked, 2)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect(
    "a branch that was made, reset or deleted is measured at once, and many together once in five seconds",
    () =>
      Effect.gen(function* () {
        const made = yield* readyProject
        const branches = yield* Branches
        const machine = yield* measuring
        yield* pass("10 seconds")
        assert.strictEqual(machine.asked, 1)
        const branch = yield* created(made)
        assert.strictEqual(machine.asked, 2)
        assert.isDefined(yield* sizeOf(branch))

        for (let n = 0; n < 4; n++) yield* created(made)
        assert.strictEqual(machine.asked, 2)
        yield* pass("5 seconds")
        assert.strictEqual(machine.asked, 3)
        yield* pass("20 seconds")
        assert.strictEqual(machine.asked, 3)

        for (const change of [
          branches.reset(made.ada, onBranch, branch),
          branches.remove(made.ada, onBranch, branch)
        ]) {
          const before = machine.asked
          yield* change
          yield* settle
          yield* (yield* EventFeed).refresh
          yield* turns
          assert.strictEqual(machine.asked, before + 1)
          yield* pass("10 seconds")
        }
      }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a measurement that takes long is followed by a longer pause, of a minute at most", () =>
    Effect.gen(function* () {
      const made = yield* readyProject
      const machine = yield* measuring
      yield* pass("10 seconds")
      machine.answer = Effect.delay(usage(made.branch.id, 1), "2 seconds")
      yield* created(made)
      assert.strictEqual(machine.asked, 2)
      yield* pass("2 seconds")
      yield* created(made)
      yield* pass("17 seconds")
      assert.strictEqual(machine.asked, 2)
      machine.answer = Effect.delay(usage(made.branch.id, 1), "1 minute")
      yield* pass("1 second")
      assert.strictEqual(machine.asked, 3)
      yield* pass("1 minute")
      yield* pass("59 seconds")
      assert.strictEqual(machine.asked, 3)
      yield* pass("1 second")
      assert.strictEqual(machine.asked, 4)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a machine that fails or does not answer keeps the last sizes, and is asked again", () =>
    Effect.gen(function* () {
      const { branch } = yield* readyProject
      const machine = yield* measuring
      machine.answer = Effect.fail(new ComputeFailed({ reason: "The disk is away.", retryable: true }))
      yield* pass("1 minute")
      machine.answer = Effect.die(new Error("a defect"))
      yield* pass("1 minute")
      machine.answer = Effect.never
      yield* pass("1 minute")
      assert.strictEqual(machine.asked, 4)
      assert.strictEqual(yield* sizeOf(branch), 32 * 1024 ** 2)
      machine.answer = usage(branch.id, 9)
      yield* pass("5 minutes")
      yield* pass("1 minute")
      assert.strictEqual(yield* sizeOf(branch), 9)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect(
    "while a machine hangs in a call that cannot be interrupted, no other is made, and its late answer is lost",
    () =>
      Effect.gen(function* () {
        const { branch } = yield* readyProject
        const machine = yield* measuring
        const late = yield* Deferred.make<ReadonlyArray<BranchDiskUsage>>()
        machine.answer = Effect.uninterruptible(Deferred.await(late))
        yield* pass("1 minute")
        machine.answer = usage(branch.id, 9)
        for (let minutes = 0; minutes < 20; minutes++) yield* pass("1 minute")
        assert.strictEqual(machine.asked, 2)
        yield* Deferred.succeed(late, [{ branch_id: branch.id, bytes: 1 }])
        yield* turns
        assert.strictEqual(yield* sizeOf(branch), 32 * 1024 ** 2)
        yield* pass("1 minute")
        assert.strictEqual(yield* sizeOf(branch), 9)
      }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a machine that hangs does not hold up the end of the instance", () =>
    Effect.gen(function* () {
      const ending = yield* Effect.forkDetach(
        Effect.scoped(
          Effect.flatMap(measuring, (machine) => {
            machine.answer = hangs
            return pass("1 minute")
          })
        )
      )
      yield* turns
      for (let seconds = 0; seconds < 90; seconds++) yield* pass("1 second")
      assert.isDefined(ending.pollUnsafe())
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "a branch that is deleted while it is measured stays deleted, and its disk is free after the next time",
    () =>
      Effect.gen(function* () {
        const made = yield* readyProject
        const machine = yield* measuring
        const branch = yield* created(made)
        yield* pass("5 seconds")
        const [main] = yield* (yield* ComputeDriver).diskUsage
        const answer = yield* Deferred.make<ReadonlyArray<BranchDiskUsage>>()
        machine.answer = Deferred.await(answer)
        yield* pass("1 minute")
        const asked = machine.asked
        yield* (yield* Branches).remove(made.ada, onBranch, branch)
        yield* settle
        yield* (yield* EventFeed).refresh
        machine.answer = (yield* ComputeDriver).diskUsage
        yield* Deferred.succeed(answer, [
          ...Option.toArray(Option.fromUndefinedOr(main)),
          { branch_id: branch.id, bytes: 5 }
        ])
        yield* turns
        assert.strictEqual(machine.asked, asked)
        assert.isTrue(Option.isNone(yield* (yield* BranchStore).findAnywhere(branch.id)))
        yield* pass("1 minute")
        assert.isUndefined(yield* sizeOf(branch))
        const held = yield* (yield* Quotas).usage({ id: made.project.org_id, personal: false })
        assert.strictEqual(held.find(({ quota }) => quota === "disk_bytes")?.held, 32 * 1024 ** 2)
      }).pipe(Effect.scoped, Effect.provide(Core))
  )
})
