/** A map of the world with the regions that have coordinates. The table beside it says the same in words. */
import { landPath, mapSize, onMap } from "./land.ts"
import { type RegionShown, regionLabel } from "./records.ts"

/** A region at 0, 0 has none: the catalog's value unless the operator sets one, and a place in the ocean. */
export const hasPlace = ({ geo_lat, geo_long }: PlacedRegion): boolean => geo_lat !== 0 || geo_long !== 0

export type PlacedRegion = RegionShown & { readonly geo_lat: number; readonly geo_long: number }

export interface WorldMapProps {
  readonly regions: ReadonlyArray<PlacedRegion>
}

/** Nothing when no region has coordinates. */
export const WorldMap = ({ regions }: WorldMapProps) => {
  const placed = regions.filter(hasPlace)
  return placed.length === 0 ? null : (
    <svg
      class="world"
      viewBox={`0 0 ${mapSize.width} ${mapSize.height}`}
      role="img"
      aria-label={`Map of the regions: ${placed.map(regionLabel).join(", ")}`}
    >
      <path class="land" d={landPath()} />
      {placed.map((region) => {
        const { x, y } = onMap(region.geo_long, region.geo_lat)
        const atTheEdge = x > mapSize.width - 50
        return (
          <g key={region.region_id}>
            <circle class="halo" cx={x} cy={y} r={5} />
            <circle class="point" cx={x} cy={y} r={2.2} />
            <text x={atTheEdge ? x - 6 : x + 6} y={y + 2} text-anchor={atTheEdge ? "end" : "start"}>
              {region.region_id}
            </text>
          </g>
        )
      })}
    </svg>
  )
}
