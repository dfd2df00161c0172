/**
 * Records how much disk the branches on these machines take, for the quota `disk_bytes` (docs/design/api.md, Quotas).
 *
 * It runs on each instance with computes. Every run replaces what the previous one recorded, so it may run twice, late,
 * or not at all: then the last numbers apply.
 */
import { Context, DateTime, Duration, Effect, Layer, Schedule } from "effect"
import { becauseOf } from "../becauseOf.ts"
import { ComputeDriver, type ComputeFailed } from "../computes/ComputeDriver.ts"
import { QuotaStore } from "../quotas/QuotaStore.ts"
import type { StorageError } from "../StorageError.ts"

/** The time between two measurements, and the longest that one may take. */
export const DiskMeasurementPolicy = Context.Reference("@narthex/core/runner/DiskMeasurementPolicy", {
  defaultValue: () => ({ interval: Duration.minutes(1), deadline: Duration.minutes(5) })
})

export class DiskMeasurement extends Context.Service<
  DiskMeasurement,
  {
    /** Measures and records once. Returns how many branches have data on these machines. */
    readonly record: Effect.Effect<number, ComputeFailed | StorageError>
  }
>()("@narthex/core/runner/DiskMeasurement") {
  static readonly layer: Layer.Layer<DiskMeasurement, never, ComputeDriver | QuotaStore> = Layer.effect(
    DiskMeasurement,
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const store = yield* QuotaStore
      const record = Effect.fn("DiskMeasurement.record")(function* () {
        const usage = yield* driver.diskUsage
        yield* store.recordBytes(usage, yield* DateTime.now)
        return usage.length
      })
      return DiskMeasurement.of({ record: record() })
    })
  )

  /** Records as long as its scope lives. A measurement that fails or takes too long is logged, and the next one follows. */
  static readonly layerLoop: Layer.Layer<never, never, DiskMeasurement> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { record } = yield* DiskMeasurement
      const { deadline, interval } = yield* DiskMeasurementPolicy
      yield* record.pipe(
        Effect.timeout(deadline),
        Effect.catchCause((cause) =>
          Effect.logWarning("The disk of the branches was not measured.").pipe(becauseOf(cause))
        ),
        Effect.repeat(Schedule.spaced(interval)),
        Effect.forkScoped
      )
    })
  )
}
