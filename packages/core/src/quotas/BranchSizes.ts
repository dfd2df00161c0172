/**
 * How large branches are, for those who may see them. `DiskMeasurement` measures; this reads what it recorded.
 *
 * Pitfall: keeping sizes in the branch's row. Each measurement would write every row, and take turns with its locks.
 */
import { Context, Effect, Layer } from "effect"
import type { Branch, BranchSizesById } from "../projects/Branch.ts"
import type { StorageError } from "../StorageError.ts"
import { QuotaStore } from "./QuotaStore.ts"

export class BranchSizes extends Context.Service<
  BranchSizes,
  {
    /** For `viewBranch`. Callers authorize first. */
    readonly of: (branches: ReadonlyArray<Pick<Branch, "id">>) => Effect.Effect<BranchSizesById, StorageError>
  }
>()("@narthex/core/quotas/BranchSizes") {
  static readonly layer: Layer.Layer<BranchSizes, never, QuotaStore> = Layer.effect(
    BranchSizes,
    Effect.map(QuotaStore, ({ sizesOf }) =>
      BranchSizes.of({
        of: Effect.fn("BranchSizes.of")((branches) =>
          branches.length === 0
            ? Effect.succeed(new Map())
            : Effect.map(
                sizesOf(branches.map(({ id }) => id)),
                (sizes): BranchSizesById => new Map(sizes.map((size) => [size.branch_id, size]))
              )
        )
      })
    )
  )
}
