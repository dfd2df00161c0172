/**
 * The sizes of branches, for callers who may see them, as `DiskMeasurement` recorded them.
 *
 * Pitfall: keeping sizes in the branch's row. Each measurement would write every row, and take turns with its locks.
 */
import { Context, Effect, Layer } from "effect"
import type { Branch, BranchSizesById } from "../../records/projects/Branch.ts"
import { sizeOf } from "../../records/quotas/BranchDisk.ts"
import { QuotaPolicy } from "../../records/quotas/Quota.ts"
import { QuotaStore } from "../../records/quotas/QuotaStore.ts"
import type { StorageError } from "../../StorageError.ts"

export class BranchSizes extends Context.Service<
  BranchSizes,
  {
    /** For `viewBranch`. Callers authorize first. */
    readonly of: (branches: ReadonlyArray<Pick<Branch, "id">>) => Effect.Effect<BranchSizesById, StorageError>
  }
>()("@narthex/core/services/quotas/BranchSizes") {
  static readonly layer: Layer.Layer<BranchSizes, never, QuotaStore> = Layer.effect(
    BranchSizes,
    Effect.map(QuotaStore, ({ disksOf }) =>
      BranchSizes.of({
        of: Effect.fn("BranchSizes.of")(function* (branches) {
          if (branches.length === 0) return new Map()
          const settings = yield* QuotaPolicy
          const disks = yield* disksOf(branches.map(({ id }) => id))
          return new Map(disks.map((disk) => [disk.branch_id, sizeOf(settings, disk)]))
        })
      })
    )
  )
}
