/** Runners that share machines are killed and stopped. Holds docs/design/operations.md O20, O26, O29. */
import { layer } from "@effect/vitest"
import { layerMemoryComputes, Region, RegionCatalog, RegionId } from "@narthex/core"
import { Context, Effect, Layer } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { worldAt } from "../races/support/world.ts"
import { kills, limit, type StormRegion, stormRegion } from "./support/StormRegion.ts"
import { weather } from "./support/weather.ts"

class Storm extends Context.Service<Storm, ReadonlyArray<StormRegion>>()("test/storm/Storm") {
  /** A store with these regions, each with so many runners of a directory. */
  static readonly layer = (regions: ReadonlyArray<string>, runners: number) =>
    Layer.unwrap(
      Effect.gen(function* () {
        const url = yield* (yield* PostgresServer).migrated
        const storm = Effect.gen(function* () {
          const { put } = yield* RegionCatalog
          for (const id of regions)
            yield* put(new Region({ region_id: RegionId.make(id), name: id, default: false, geo_lat: 0, geo_long: 0 }))
          return yield* Effect.forEach(regions, (id) => stormRegion(url, id, runners))
        })
        return Layer.provideMerge(Layer.effect(Storm, storm), worldAt(url, layerMemoryComputes))
      })
    ).pipe(Layer.provide(PostgresServer.layer))
}

const timeout = kills > 3 ? 10_800_000 : 2 * limit

layer(Storm.layer(["local"], 3), { excludeTestServices: true })("three runners on one machine", (it) => {
  it.effect(
    "operations and databases are right after runners were killed and stopped at random",
    () => Effect.flatMap(Storm, (regions) => weather(regions, ["ada", "bob"])),
    { timeout }
  )
})

layer(Storm.layer(["eu-1", "us-1"], 2), { excludeTestServices: true })("two runners in each of two regions", (it) => {
  it.effect(
    "operations and databases of both regions are right after runners of both were killed and stopped at random",
    () => Effect.flatMap(Storm, (regions) => weather(regions, ["ada"])),
    { timeout }
  )
})
