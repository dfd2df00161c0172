/** The effect of measuring the disk on the roles of an organization that holds more than its quota. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ComputeDriver } from "../../src/records/computes/ComputeDriver.ts"
import { EventFeed } from "../../src/records/events/EventFeed.ts"
import { isAboveQuota } from "../../src/records/quotas/BranchDisk.ts"
import { defaultQuotas } from "../../src/records/quotas/Quota.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import { DiskMeasurement } from "../../src/runner/DiskMeasurement.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Core, Machines, settle, turn } from "../memory/core.ts"
import { readyProject, setDesiredState } from "./story.ts"

const turns = Effect.repeat(Effect.andThen(Effect.yieldNow, turn), { times: 20 })
const aMinute = Effect.andThen(TestClock.adjust("1 minute"), Effect.andThen(turns, settle))

/** A running branch with a writer, whose quota is 100 bytes, and the bytes that its machine measures each minute. */
const measured = Effect.gen(function* () {
  const machines = yield* Machines
  const made = yield* readyProject
  yield* (yield* Credentials).mint(made.ada, made.project, made.branch, "read_write", null)
  yield* setDesiredState(made.project, made.endpoint, "active")
  yield* settle
  yield* (yield* QuotaStore).setOverride(made.project.org_id, "disk_bytes", 100)
  const disk = { bytes: 100 }
  const driver = yield* ComputeDriver
  const double = ComputeDriver.of({
    ...driver,
    diskUsage: Effect.sync(() => [{ branch_id: made.branch.id, bytes: disk.bytes }])
  })
  yield* (yield* EventFeed).refresh
  const measurement = Layer.provide(Layer.fresh(DiskMeasurement.layer), Layer.succeed(ComputeDriver, double))
  yield* Layer.build(Layer.provide(DiskMeasurement.layerLoop, measurement))
  yield* turns
  const writers = () => machines.writers.get(made.branch.id)
  return { ...made, disk, machines, writers }
})

describe("an organization's disk", () => {
  it("is above its quota from the first byte beyond it", () => {
    const terms = { personal: false, overrides: { disk_bytes: 100 } }
    assert.isFalse(isAboveQuota(defaultQuotas, { held: 100, terms }))
    assert.isTrue(isAboveQuota(defaultQuotas, { held: 101, terms }))
    const personal = { personal: true, overrides: {} }
    const share = (defaultQuotas.disk_bytes * defaultQuotas.personal_percent) / 100
    assert.isFalse(isAboveQuota(defaultQuotas, { held: share, terms: personal }))
    assert.isTrue(isAboveQuota(defaultQuotas, { held: share + 1, terms: personal }))
  })

  it.effect("above the quota its writers only read, and below it they write again", () =>
    Effect.gen(function* () {
      const { disk, machines, writers } = yield* measured
      yield* aMinute
      assert.strictEqual(writers(), 1)
      disk.bytes = 101
      yield* aMinute
      assert.strictEqual(writers(), 0)
      const calls = machines.calls.length
      yield* aMinute
      assert.strictEqual(machines.calls.length, calls, "nothing is applied twice")
      disk.bytes = 100
      yield* aMinute
      assert.strictEqual(writers(), 1)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("above the quota a compute starts with readers", () =>
    Effect.gen(function* () {
      const { branch, disk, endpoint, machines, project, writers } = yield* measured
      disk.bytes = 101
      yield* setDesiredState(project, endpoint, "idle")
      yield* settle
      yield* aMinute
      yield* setDesiredState(project, endpoint, "active")
      yield* settle
      assert.strictEqual(machines.roles.get(branch.id)?.length, 1)
      assert.strictEqual(writers(), 0)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a quota that the operator raises lets it write after the next measurement", () =>
    Effect.gen(function* () {
      const { disk, project, writers } = yield* measured
      disk.bytes = 500
      yield* aMinute
      assert.strictEqual(writers(), 0)
      yield* (yield* QuotaStore).setOverride(project.org_id, "disk_bytes", 500)
      yield* aMinute
      assert.strictEqual(writers(), 1)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})
