/** The regions that projects can be created in, and the choice of one. */
import { Context, Effect, Layer } from "effect"
import type { RegionId } from "../Ids.ts"
import type { StorageError } from "../StorageError.ts"
import { chooseRegion, type Region, type RegionRequired, type RegionUnknown } from "./Region.ts"
import { RegionCatalog } from "./RegionCatalog.ts"

export class Regions extends Context.Service<
  Regions,
  {
    /** The active ones, in the order of their addition. */
    readonly list: Effect.Effect<ReadonlyArray<Region>, StorageError>
    /** The region of a new project; `null`: no region was requested. */
    readonly choose: (wish: string | null) => Effect.Effect<RegionId, RegionRequired | RegionUnknown | StorageError>
  }
>()("@narthex/core/regions/Regions") {
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
