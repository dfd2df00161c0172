import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { RegionId } from "../../src/Ids.ts"
import { chooseRegion, Region, RegionRequired, RegionUnknown } from "../../src/records/regions/Region.ts"
import { RegionCatalog } from "../../src/records/regions/RegionCatalog.ts"
import { Regions } from "../../src/services/regions/Regions.ts"
import { onMemory } from "../onMemory.ts"

const region = (id: string, preselected = false) =>
  new Region({ region_id: RegionId.make(id), name: id, default: preselected, geo_lat: 0, geo_long: 0 })
const [eu, us] = [region("eu-1", true), region("us-1")]

describe("chooseRegion", () => {
  it.each([
    ["the requested region, if it is active", [eu, us], "us-1", "us-1"],
    ["the only active region if none is requested", [us], null, "us-1"],
    ["the only active region if none is requested and it is the default", [eu], null, "eu-1"]
  ])("chooseRegion returns %s", (_what, active, requested, expected) => {
    assert.deepStrictEqual(chooseRegion(active, requested), Result.succeed(RegionId.make(expected)))
  })

  it("chooseRegion requires a request among several active regions, even with a default", () => {
    assert.deepStrictEqual(
      chooseRegion([eu, us], null),
      Result.fail(new RegionRequired({ active: [eu.region_id, us.region_id] }))
    )
  })

  it("chooseRegion fails without a request when no region is active", () => {
    assert.deepStrictEqual(chooseRegion([], null), Result.fail(new RegionRequired({ active: [] })))
  })

  it.each(["EU-1", "", "eu-1 ", "nowhere"])("chooseRegion fails for the unknown region %j", (requested) => {
    assert.deepStrictEqual(chooseRegion([eu, us], requested), Result.fail(new RegionUnknown({ region_id: requested })))
    assert.isTrue(Result.isFailure(chooseRegion([eu], requested)))
  })
})

describe("Regions", () => {
  it.effect("a region is chosen without a request once all others are retired", () =>
    Effect.gen(function* () {
      const catalog = yield* RegionCatalog
      const regions = yield* Regions
      yield* catalog.seed([eu.region_id, us.region_id])
      assert.strictEqual((yield* Effect.flip(regions.choose(null)))._tag, "RegionRequired")
      yield* catalog.retire(us.region_id)
      assert.strictEqual(yield* regions.choose(null), eu.region_id)
      assert.strictEqual((yield* Effect.flip(regions.choose("us-1")))._tag, "RegionUnknown")
      assert.deepStrictEqual(
        (yield* regions.list).map(({ region_id }) => region_id),
        [eu.region_id]
      )
    }).pipe(Effect.provide(Regions.layer.pipe(Layer.provideMerge(onMemory(RegionCatalog.layerMemory)))))
  )
})
