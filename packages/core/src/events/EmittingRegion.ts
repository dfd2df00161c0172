/** The region that this instance emits events from (`NARTHEX_REGION`). */
import { Context } from "effect"
import { RegionId } from "../Ids.ts"

export const EmittingRegion = Context.Reference<RegionId>("@narthex/core/events/EmittingRegion", {
  defaultValue: () => RegionId.make("local")
})
