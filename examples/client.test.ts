/** Runs the scripts against the real API server, on memory storage. */
import { assert, describe, it } from "@effect/vitest"
import { NarthexClient } from "@narthex/api"
import { Region, RegionCatalog, RegionId } from "@narthex/core"
import { Effect, Fiber, Redacted } from "effect"
import { within } from "../test/harness/eventually.ts"
import { keySettings, MemoryServer } from "./memoryServer.ts"
import { program } from "./typedClient.ts"
import { watch } from "./watchEvents.ts"

describe("scripts", () => {
  it.live("the typed client creates a project, waits for it and allows one address", () =>
    Effect.gen(function* () {
      const client = NarthexClient.layerFetch(yield* keySettings)
      const { project, rules } = yield* Effect.provide(program("shop"), client)
      assert.strictEqual(project.name, "shop")
      assert.deepStrictEqual(
        rules.map(({ cidr, label }) => [cidr, label]),
        [["127.0.0.1/32", "this script"]]
      )
    }).pipe(Effect.provide(MemoryServer.layer))
  )

  it.live("the typed client passes a region if the server requires one", () =>
    Effect.gen(function* () {
      const catalog = yield* RegionCatalog
      const region_id = RegionId.make("elsewhere")
      yield* catalog.put(new Region({ region_id, name: region_id, default: false, geo_lat: 0, geo_long: 0 }))
      const client = NarthexClient.layerFetch(yield* keySettings)
      const { project } = yield* Effect.provide(program("shop"), client)
      assert.strictEqual(project.region_id, "local")
    }).pipe(Effect.provide(MemoryServer.layer))
  )

  it.live("the watcher follows the creation of a project, and resumes where it stopped", () =>
    Effect.gen(function* () {
      const { baseUrl, credential } = yield* keySettings
      const own = { baseUrl, credential: Redacted.value(credential) }
      const connected = Promise.withResolvers<void>()
      const seen: Array<string> = []
      const watching = yield* Effect.forkChild(
        Effect.promise(() =>
          watch(own, {
            onMissed: connected.resolve,
            onOperation: (_, status) => {
              seen.push(status)
              return status !== "running"
            }
          })
        )
      )
      yield* Effect.promise(() => within("the watcher to connect", connected.promise))
      yield* Effect.provide(program("shop"), NarthexClient.layerFetch({ baseUrl, credential }))
      const last = yield* Effect.promise(() => within("the operation to run", Effect.runPromise(Fiber.join(watching))))
      assert.deepStrictEqual(seen, ["scheduling", "running"])

      yield* Effect.promise(() =>
        within(
          "the operation to finish",
          watch(
            own,
            {
              onMissed: () => seen.push("missed"),
              onOperation: (_, status) => {
                seen.push(status)
                return status !== "finished"
              }
            },
            last
          )
        )
      )
      assert.deepStrictEqual(seen, ["scheduling", "running", "finished"])
    }).pipe(Effect.provide(MemoryServer.layer))
  )
})
