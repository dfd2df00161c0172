/**
 * Port: the catalog of regions, which the operator maintains. Retired regions keep their projects and take no new ones.
 */
import { Context, Effect, Layer, Result } from "effect"
import type { RegionId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { Region } from "./Region.ts"

export interface CatalogEntry {
  readonly region: Region
  readonly active: boolean
  /** The order in which regions were added, which is the order of lists. */
  readonly position: number
}

export class RegionCatalog extends Context.Service<
  RegionCatalog,
  {
    /** In the order of their addition. */
    readonly active: Effect.Effect<ReadonlyArray<Region>, StorageError>
    readonly all: Effect.Effect<ReadonlyArray<CatalogEntry>, StorageError>
    /** Adds these when the catalog is empty, the first as the default; at any other time it changes nothing. */
    readonly seed: (ids: ReadonlyArray<RegionId>) => Effect.Effect<void, StorageError>
    /** Adds, changes or re-activates a region. A new default replaces the former default. */
    readonly put: (region: Region) => Effect.Effect<void, StorageError>
    /**
     * As `put` with what `edit` makes of the region's entry, or nothing when `edit` fails. One atomic step: no other
     * change of the catalog comes between reading and writing. `edit` gets `undefined` for an unknown region.
     */
    readonly edit: <E>(
      id: RegionId,
      edit: (entry: CatalogEntry | undefined) => Result.Result<Region, E>
    ) => Effect.Effect<void, E | StorageError>
    /** Retires the region; `false` when there is no active region of this id. */
    readonly retire: (id: RegionId) => Effect.Effect<boolean, StorageError>
  }
>()("@narthex/core/records/regions/RegionCatalog") {
  static readonly layerMemory: Layer.Layer<RegionCatalog, never, MemoryStorage> = Layer.effect(
    RegionCatalog,
    Effect.gen(function* () {
      const regions = (yield* MemoryStorage).table<CatalogEntry>("region")
      /** The change of the rows that puts the region: a new default replaces the former one. */
      const put = (rows: ReadonlyArray<CatalogEntry>, region: Region) => {
        const former = rows.find((row) => row.region.region_id === region.region_id)
        const demoted = rows
          .filter((row) => region.default && row.region.default && row !== former)
          .map(
            (row) => [row.region.region_id, { ...row, region: new Region({ ...row.region, default: false }) }] as const
          )
        const entry = { region, active: true, position: former?.position ?? rows.length }
        return [...demoted, [region.region_id, entry] as const]
      }
      const all = Effect.map(regions.all, (rows) => rows.toSorted((a, b) => a.position - b.position))
      return RegionCatalog.of({
        active: Effect.map(all, (rows) => rows.filter((row) => row.active).map((row) => row.region)),
        all,
        seed: (ids) =>
          regions.modify((rows) => [
            undefined,
            rows.length > 0
              ? []
              : ids.map((id, position) => [
                  id,
                  {
                    region: new Region({ region_id: id, name: id, default: position === 0, geo_lat: 0, geo_long: 0 }),
                    active: true,
                    position
                  }
                ])
          ]),
        put: (region) => regions.modify((rows) => [undefined, put(rows, region)]),
        edit: (id, edit) =>
          Effect.flatMap(
            regions.modify((rows) => {
              const edited = edit(rows.find((row) => row.region.region_id === id))
              return [Result.map(edited, () => undefined), Result.isSuccess(edited) ? put(rows, edited.success) : []]
            }),
            Effect.fromResult
          ),
        retire: (id) =>
          regions.modify((rows) => {
            const row = rows.find((it) => it.region.region_id === id && it.active)
            if (row === undefined) return [false, []]
            return [true, [[id, { ...row, active: false, region: new Region({ ...row.region, default: false }) }]]]
          })
      })
    })
  )
}
