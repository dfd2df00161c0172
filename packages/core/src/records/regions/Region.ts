/** A region of the catalog, and which one a new project gets (docs/design/api.md, Regions). */
import { Result, Schema } from "effect"
import { RegionId } from "../../Ids.ts"

/** A region is a label in the host names of its endpoints. The settings and the operator's commands ask for this form. */
export const isRegionId = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)

export class Region extends Schema.Class<Region>("Region")({
  region_id: RegionId,
  /** Repeats `region_id` unless the operator sets one. */
  name: Schema.String,
  /** Whether the console preselects it. It has no effect on automatic choice. */
  default: Schema.Boolean,
  geo_lat: Schema.Finite,
  geo_long: Schema.Finite,
  location: Schema.optionalKey(Schema.String)
}) {}

/** No region was given, and there is not exactly one to choose. */
export class RegionRequired extends Schema.TaggedError<RegionRequired>()("RegionRequired", {
  active: Schema.Array(RegionId)
}) {
  override get message() {
    return this.active.length === 0
      ? "No region is active. Ask the operator to add one."
      : `Name a region: ${this.active.join(", ")}.`
  }
}

/** The region is not in the catalog, or retired. */
export class RegionUnknown extends Schema.TaggedError<RegionUnknown>()("RegionUnknown", { region_id: Schema.String }) {
  override get message() {
    return `There is no active region "${this.region_id}".`
  }
}

/** The region for a new project: the requested one if it is active; without a request, the only active one. */
export const chooseRegion = (
  active: ReadonlyArray<Region>,
  wish: string | null
): Result.Result<RegionId, RegionRequired | RegionUnknown> => {
  const ids = active.map((region) => region.region_id)
  if (wish !== null) {
    const found = ids.find((id) => id === wish)
    return found === undefined ? Result.fail(new RegionUnknown({ region_id: wish })) : Result.succeed(found)
  }
  const [only, ...others] = ids
  return only !== undefined && others.length === 0
    ? Result.succeed(only)
    : Result.fail(new RegionRequired({ active: ids }))
}
