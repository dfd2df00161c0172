/** The regions that projects can be created in, and the choice of one. */
import { Context, Effect, Layer } from "effect"
import type { RegionId } from "../../Ids.ts"
import { chooseRegion, type Region, type RegionRequired, type RegionUnknown } from "../../records/regions/Region.ts"
import { RegionCatalog } from "../../records/regions/RegionCatalog.ts"
import type { StorageError } from "../../StorageError.ts"

export class Regions extends Context.Service<
  Regions,
  {
    /** The active ones, in the order of their addition. */
    readonly list: Effect.Effect<ReadonlyArray<Region>, StorageError>
    /** The region of a new project; `null`: no region was requested. */
    readonly choose: (wish: string | null) => Effect.Effect<RegionId, RegionRequired | RegionUnknown | StorageError>
  }
>()("@narthex/core/services/regions/Regions") {
  static readonly layer: Layer.Layer<Regions, never, RegionCatalog> = Layer.effect(
    Regions,
    Effect.map(RegionCatalog, ({ active }) =>
      Regions.of({
        list: active,
        choose: Effect.fn("Regions.choose")(function* (wish) {
          return yield* Effect.fromResult(chooseRegion(yield* active, wish))
        })
      })
    )
  )
}
