/**
 * Port: the catalog of regions, which the operator maintains, and what runs in each. Retired regions keep their projects
 * and take no new ones.
 */
import { Clock, Context, Effect, Layer, Result } from "effect"
import type { RegionId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { Region } from "./Region.ts"

/** The members that are read of records of folders above this one. */
interface Placed {
  readonly region_id: RegionId
}

interface PlacedEndpoint extends Placed {
  readonly current_state: string
}

interface SeenRunner {
  readonly runner_id: string
  readonly region_id: RegionId
  /** Milliseconds since the epoch. */
  readonly seen_at: number
}

export interface CatalogEntry {
  readonly region: Region
  readonly active: boolean
  /** The order in which regions were added, which is the order of lists. */
  readonly position: number
}

/** The use of a region, as operators see it. */
export interface RegionUse {
  readonly region_id: RegionId
  /** How many runners have been seen within `runnerTiming.there`. */
  readonly runners: number
  /** Milliseconds since a runner was seen last; `null`: none ever was. */
  readonly seen_ms: number | null
  readonly projects: number
  /** The endpoints whose compute runs. */
  readonly computes: number
}

/** How runners record that they work, in milliseconds. */
export const runnerTiming = {
  /** How often a runner does so. */
  beat: 5_000,
  /** A runner that has not done so for this long has ended, or stands still. */
  there: 15_000
} as const

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
    /** Records that a runner of the region works now, and forgets those of the region that have ended. */
    readonly noteRunner: (region: RegionId, runner: string) => Effect.Effect<void, StorageError>
    /** The use of each region, in the order of their addition, by the clock of the store. */
    readonly uses: Effect.Effect<ReadonlyArray<RegionUse>, StorageError>
  }
>()("@narthex/core/records/regions/RegionCatalog") {
  static readonly layerMemory: Layer.Layer<RegionCatalog, never, MemoryStorage> = Layer.effect(
    RegionCatalog,
    Effect.gen(function* () {
      const { table } = yield* MemoryStorage
      const regions = table<CatalogEntry>("region")
      const runners = table<SeenRunner>("region_runner")
      const projects = table<{ readonly project: Placed; readonly deleted_at: unknown }>("project")
      const endpoints = table<{ readonly endpoint: PlacedEndpoint; readonly deleted_at: unknown }>("endpoint")
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
          }),
        noteRunner: Effect.fnUntraced(function* (region_id, runner_id) {
          const seen_at = yield* Clock.currentTimeMillis
          yield* runners.modify((rows) => {
            const ended = rows.filter(
              (row) => row.region_id === region_id && seen_at - row.seen_at > runnerTiming.there
            )
            return [
              undefined,
              [
                ...ended.map((row) => [row.runner_id, undefined] as const),
                [runner_id, { runner_id, region_id, seen_at }]
              ]
            ]
          })
        }),
        uses: Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const seen = yield* runners.all
          const living = (yield* projects.all).filter((row) => row.deleted_at === null)
          const active = (yield* endpoints.all).filter(
            (row) => row.deleted_at === null && row.endpoint.current_state === "active"
          )
          return (yield* all).map(({ region: { region_id } }) => {
            const ages = seen.filter((it) => it.region_id === region_id).map((it) => now - it.seen_at)
            return {
              region_id,
              runners: ages.filter((age) => age <= runnerTiming.there).length,
              seen_ms: ages.length === 0 ? null : Math.min(...ages),
              projects: living.filter(({ project }) => project.region_id === region_id).length,
              computes: active.filter(({ endpoint }) => endpoint.region_id === region_id).length
            }
          })
        })
      })
    })
  )
}
