/** The regions: the map, the table, and the choice at the creation of a project. */
import { assert, describe, layer, it as test } from "@effect/vitest"
import { Effect } from "effect"
import { landPath, onMap } from "../src/views/land.ts"
import { Api } from "./support/Api.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

describe("the map", () => {
  /** The dots of the path, in degrees. */
  const dots = (() => {
    let [x, y] = [0, 0]
    return [...landPath().matchAll(/([Mm])(-?[\d.]+) (-?[\d.]+)h0/g)].map(([, kind, dx, dy]) => {
      x = kind === "M" ? Number(dx) : x + Number(dx)
      y = kind === "M" ? Number(dy) : y
      return [x, y] as const
    })
  })()
  const isLand = (longitude: number, latitude: number) => {
    const { x, y } = onMap(longitude, latitude)
    return dots.some(([dx, dy]) => Math.abs(dx - x) <= 3 && Math.abs(dy - y) <= 3)
  }

  test("cities are on land, and the middle of each ocean is not", () => {
    const cities = [
      [13.4, 52.5], // Berlin
      [-77, 39], // Ashburn
      [-122, 37.5], // San Jose
      [103.8, 1.4], // Singapore
      [151, -33.8], // Sydney
      [-46.6, -23.5], // São Paulo
      [72.8, 19], // Mumbai
      [139.7, 35.7], // Tokyo
      [28, -26] // Johannesburg
    ] as const
    for (const [longitude, latitude] of cities) assert.isTrue(isLand(longitude, latitude), `${longitude}, ${latitude}`)
    for (const [longitude, latitude] of [
      [-35, 30],
      [-150, 0],
      [75, -30],
      [0, -30]
    ] as const)
      assert.isFalse(isLand(longitude, latitude), `${longitude}, ${latitude}`)
  })

  test("the path is small enough for a page", () => {
    assert.isBelow(landPath().length, 12_000)
  })
})

/** The list of regions, with other ones. */
const changed =
  (change: (regions: ReadonlyArray<object>) => ReadonlyArray<object>) =>
  ({ regions }: { readonly regions: ReadonlyArray<object> }) => ({ regions: change(regions) })

layer(layerTestConsole(), { excludeTestServices: true })("regions", (it) => {
  it.effect("the page lists each region, and has a map when some have coordinates", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser, home } = yield* signedInAs("traveller@example.com")
      const bare = yield* go(() => browser.open(`${home}/regions`))
      for (const part of ["eu-north", "us-west", "default"]) assert.include(bare.text, part)
      assert.notInclude(bare.text, "Map of the regions")
      plane.edit(
        "/v1/regions",
        changed(([first = {}, ...more]) => [{ ...first, geo_lat: 60, geo_long: 18.5 }, ...more])
      )
      const mapped = yield* go(() => browser.open(`${home}/regions`))
      assert.include(mapped.text, 'aria-label="Map of the regions: eu-north"')
      assert.match(mapped.text, /<circle class="point" cx="198.5" cy="24"/)
      assert.include(mapped.text, "60.0° N, 18.5° E")
      plane.instead = undefined
    })
  )

  it.effect("a new project asks for the region only when there are several", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser, home } = yield* signedInAs("chooser@example.com")
      const several = yield* go(() => browser.open(`${home}/projects/new`))
      assert.match(several.text, /<input[^>]*name="region"[^>]*value="eu-north"[^>]*checked/)
      assert.notInclude(several.text, "Choose automatically")
      plane.edit(
        "/v1/regions",
        changed((all) => all.slice(0, 1))
      )
      const one = yield* go(() => browser.open(`${home}/projects/new`))
      assert.notInclude(one.text, 'name="region"')
      assert.include(one.text, "Region: eu-north.")
      plane.edit(
        "/v1/regions",
        changed(() => [])
      )
      assert.include((yield* go(() => browser.open(`${home}/projects/new`))).text, "No region is active")
      plane.instead = undefined
    })
  )
})
