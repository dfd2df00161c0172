/**
 * Records how much disk the branches on these machines take: for the quota `disk_bytes` and for the size of each branch
 * (docs/design/api.md A20, A21).
 *
 * The measurement runs on each instance with computes. Every run replaces the records of the previous one, so it may
 * run twice, late, or not at all: then the last numbers apply.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Queue, Result, Semaphore, Stream } from "effect"
import { becauseOf } from "../becauseOf.ts"
import type { BranchId } from "../Ids.ts"
import { ComputeDriver, type ComputeFailed } from "../records/computes/ComputeDriver.ts"
import type { LoggedEvent } from "../records/events/Envelope.ts"
import { EventFeed } from "../records/events/EventFeed.ts"
import { isAboveQuota } from "../records/quotas/BranchDisk.ts"
import { QuotaPolicy } from "../records/quotas/Quota.ts"
import { QuotaStore } from "../records/quotas/QuotaStore.ts"
import type { StorageError } from "../StorageError.ts"
import { abandonable } from "./abandonable.ts"
import { RoleReconciler } from "./RoleReconciler.ts"
import { RunnerPolicy } from "./RunnerPolicy.ts"

/**
 * `interval`: the time between two measurements. `pause`: the least time between them, however much changes. `deadline`:
 * the longest that one may take.
 */
export const DiskMeasurementPolicy = Context.Reference("@narthex/core/runner/DiskMeasurementPolicy", {
  defaultValue: () => ({
    interval: Duration.minutes(1),
    pause: Duration.seconds(5),
    deadline: Duration.minutes(5)
  })
})

/** How long a driver that was interrupted may take to end, before the loop goes on without it. */
const grace = Duration.seconds(5)

/** A measurement is followed by a pause of so many times its length, so that measuring takes a small part of the time. */
const restFactor = 9

/** Operations after which a branch has other data, or none. */
const changesData: ReadonlySet<unknown> = new Set([
  "create_timeline",
  "create_branch",
  "reset_branch",
  "delete_timeline"
])

const changedData = ({ data, type }: LoggedEvent) =>
  type === "operation.updated.v1" && data["status"] === "finished" && changesData.has(data["action"])

export interface Measured {
  /** How many branches have data on these machines. */
  readonly branches: number
  /** The branches among them whose organization holds more disk than its quota. */
  readonly above: ReadonlySet<BranchId>
}

const isSame = (before: ReadonlySet<BranchId>, now: ReadonlySet<BranchId>) =>
  before.size === now.size && [...now].every((it) => before.has(it))

export class DiskMeasurement extends Context.Service<
  DiskMeasurement,
  {
    /** Measures and records once. */
    readonly record: Effect.Effect<Measured, ComputeFailed | StorageError>
  }
>()("@narthex/core/runner/DiskMeasurement") {
  static readonly layer: Layer.Layer<DiskMeasurement, never, ComputeDriver | QuotaStore> = Layer.effect(
    DiskMeasurement,
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const store = yield* QuotaStore
      const { region } = yield* RunnerPolicy
      const record = Effect.fn("DiskMeasurement.record")(function* () {
        const began = yield* DateTime.now
        const usage = yield* driver.diskUsage
        yield* store.recordBytes(region, usage, began)
        const settings = yield* QuotaPolicy
        const disks = yield* store.disksOf(usage.map(({ branch_id }) => branch_id))
        const above = disks.filter((it) => isAboveQuota(settings, it)).map(({ branch_id }) => branch_id)
        return { branches: usage.length, above: new Set(above) }
      })
      return DiskMeasurement.of({ record: record() })
    })
  )

  /**
   * Records as long as its scope lives: at the start, once each interval, and soon after an operation that changed
   * much. A measurement that fails or takes too long is logged, and the next one follows. One measurement runs at a
   * time: while an abandoned one has not ended, for example because a disk does not answer, no other begins.
   *
   * When branches come above the quota of their organization, or are below it again, the roles of computes are compared at once
   * (docs/design/api.md A36).
   */
  static readonly layerLoop: Layer.Layer<never, never, DiskMeasurement | EventFeed | RoleReconciler> =
    Layer.effectDiscard(
      Effect.gen(function* () {
        const { record } = yield* DiskMeasurement
        const { events } = yield* EventFeed
        const { deadline, interval, pause } = yield* DiskMeasurementPolicy
        const turn = yield* Semaphore.make(1)
        const changes = yield* Queue.sliding<void>(1)
        const { compareRoles } = yield* RoleReconciler
        /** Empty at first, so that computes are compared at the start too. */
        let before: ReadonlySet<BranchId> = new Set()

        const measured = Effect.gen(function* () {
          const { above } = yield* record
          if (isSame(before, above)) return
          yield* compareRoles
          before = above
        })

        const bounded = Effect.gen(function* () {
          const ended = yield* abandonable(turn.withPermitsIfAvailable(1)(measured), Effect.sleep(deadline), grace)
          if (Result.isFailure(ended))
            yield* Effect.logWarning("Measuring the disk of the branches takes too long, and was given up.")
          else if (Option.isNone(ended.success))
            yield* Effect.logWarning("The disk of the branches is not measured: an earlier measurement has not ended.")
        }).pipe(
          Effect.catchCause((cause) =>
            Effect.logWarning("The disk of the branches was not measured.").pipe(becauseOf(cause))
          )
        )

        const round = Effect.gen(function* () {
          const began = yield* Clock.currentTimeMillis
          yield* bounded
          const took = Duration.millis((yield* Clock.currentTimeMillis) - began)
          const rest = Duration.min(interval, Duration.max(pause, Duration.times(took, restFactor)))
          yield* Effect.sleep(rest)
          yield* Effect.timeoutOption(Queue.take(changes), Duration.subtract(interval, rest))
        })

        yield* Effect.forkScoped(
          Stream.runForEach(Stream.filter(events, changedData), () => Queue.offer(changes, undefined))
        )
        yield* Effect.forkScoped(Effect.forever(round))
      })
    )
}
