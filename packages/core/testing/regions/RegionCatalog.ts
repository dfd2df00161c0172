/** The contract of `RegionCatalog`. Run it against every adapter: there is one catalog, so the layer must be fresh. */
import { Effect, Result } from "effect"
import { RegionId } from "../../src/Ids.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { Region } from "../../src/records/regions/Region.ts"
import { RegionCatalog, runnerTiming } from "../../src/records/regions/RegionCatalog.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anEndpoint, aProject } from "../records.ts"
import { atOnce } from "../together.ts"

const ids = (regions: ReadonlyArray<Region>) => regions.map((region) => region.region_id as string)
const defaults = (regions: ReadonlyArray<Region>) => ids(regions.filter((region) => region.default))

const aRegion = (id: string, rest: Partial<Region> = {}) =>
  new Region({ region_id: RegionId.make(id), name: id, default: false, geo_lat: 0, geo_long: 0, ...rest })

export const regionCatalogContract = contract<EndpointStore | ProjectStore | RegionCatalog>("RegionCatalog", (it) => {
  it("the catalog is seeded once, adds, changes and retires regions, and has at most one default", () =>
    Effect.gen(function* () {
      const catalog = yield* RegionCatalog
      assert.deepStrictEqual(yield* catalog.active, [])
      yield* atOnce(4, () => catalog.seed([RegionId.make("eu-2"), RegionId.make("eu-1")]))
      yield* catalog.seed([RegionId.make("us-1")])
      assert.deepStrictEqual(yield* catalog.active, [aRegion("eu-2", { default: true }), aRegion("eu-1")])

      const asia = aRegion("ap-1", { default: true, geo_lat: 1.5, geo_long: -103.25, location: "Singapore" })
      yield* catalog.put(asia)
      assert.deepStrictEqual(ids(yield* catalog.active), ["eu-2", "eu-1", "ap-1"])
      assert.deepStrictEqual(defaults(yield* catalog.active), ["ap-1"])
      assert.deepStrictEqual((yield* catalog.active)[2], asia)

      yield* catalog.put(aRegion("ap-1", { name: "Asia" }))
      assert.deepStrictEqual((yield* catalog.active)[2], aRegion("ap-1", { name: "Asia" }))
      assert.deepStrictEqual(defaults(yield* catalog.active), [])

      yield* catalog.put(aRegion("eu-1", { default: true }))
      assert.isTrue(yield* catalog.retire(RegionId.make("eu-1")))
      assert.isFalse(yield* catalog.retire(RegionId.make("eu-1")))
      assert.isFalse(yield* catalog.retire(RegionId.make("nowhere")))
      assert.deepStrictEqual(ids(yield* catalog.active), ["eu-2", "ap-1"])
      assert.deepStrictEqual(
        (yield* catalog.all).map(({ active, region }) => [region.region_id as string, active, region.default]),
        [
          ["eu-2", true, false],
          ["eu-1", false, false],
          ["ap-1", true, false]
        ]
      )

      yield* catalog.put(aRegion("eu-1"))
      assert.deepStrictEqual(ids(yield* catalog.active), ["eu-2", "eu-1", "ap-1"])
    }))

  it("no simultaneous edit of a region is lost, and an edit that fails changes nothing", () =>
    Effect.gen(function* () {
      const catalog = yield* RegionCatalog
      const id = RegionId.make("edited-1")
      yield* atOnce(8, () =>
        catalog.edit(id, (entry) =>
          Result.succeed(aRegion(id, { geo_lat: (entry?.region.geo_lat ?? 0) + 1, default: true }))
        )
      )
      const edited = Effect.map(catalog.active, (all) => all.find(({ region_id }) => region_id === id))
      assert.deepStrictEqual(yield* edited, aRegion(id, { geo_lat: 8, default: true }))
      assert.deepStrictEqual(defaults(yield* catalog.active), [id])
      assert.strictEqual(yield* Effect.flip(catalog.edit(id, () => Result.fail("no"))), "no")
      assert.deepStrictEqual(yield* edited, aRegion(id, { geo_lat: 8, default: true }))
      assert.isTrue(yield* catalog.retire(id))
    }))

  it("the use of a region is its runners, its projects and its running computes", () =>
    Effect.gen(function* () {
      const catalog = yield* RegionCatalog
      const [used, unused] = [RegionId.make("used-1"), RegionId.make("unused-1")]
      for (const id of [used, unused]) yield* catalog.put(aRegion(id))
      const project = aProject({ region_id: used })
      yield* (yield* ProjectStore).insert(project)
      const endpoints = yield* EndpointStore
      for (const current_state of ["active", "idle"] as const)
        yield* endpoints.put(anEndpoint(project.id, aBranchId(), { region_id: used, current_state }))
      for (const runner of ["first", "second", "first"]) yield* catalog.noteRunner(used, runner)
      const found = (yield* catalog.uses).filter(({ region_id }) => region_id === used || region_id === unused)
      const [{ seen_ms = null } = {}] = found
      assert.isTrue(seen_ms !== null && seen_ms >= 0 && seen_ms < runnerTiming.there)
      assert.deepStrictEqual(found, [
        { region_id: used, runners: 2, seen_ms, projects: 1, computes: 1 },
        { region_id: unused, runners: 0, seen_ms: null, projects: 0, computes: 0 }
      ])
    }))

  it("the last of several simultaneous new defaults remains", () =>
    Effect.gen(function* () {
      const catalog = yield* RegionCatalog
      yield* atOnce(6, (n) => catalog.put(aRegion(`x-${n}`, { default: true })))
      assert.lengthOf(defaults(yield* catalog.active), 1)
      const positions = (yield* catalog.all).map((entry) => entry.position)
      assert.deepStrictEqual(positions, [...new Set(positions)])
    }))
})
