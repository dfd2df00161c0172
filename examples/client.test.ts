/** Runs the scripts against the real API server, on memory storage. */
import { assert, describe, it } from "@effect/vitest"
import { NarthexClient } from "@narthex/api"
import { ApiKeys, Authentication, Region, RegionCatalog, RegionId, Sessions } from "@narthex/core"
import { Effect, Fiber, Redacted } from "effect"
import { within } from "../test/harness/eventually.ts"
import { MemoryServer } from "./memoryServer.ts"
import { idToken } from "./people.ts"
import { program } from "./typedClient.ts"
import { watch } from "./watchEvents.ts"

/** The URL of the API, and a key of a signed-in user. */
const settings = Effect.gen(function* () {
  const { url } = yield* MemoryServer
  const device = { user_agent: null, address: null }
  const { access_token } = yield* (yield* Sessions).exchange(idToken("grace@example.com"), device)
  const caller = yield* (yield* Authentication).authenticate(access_token, null)
  if (caller.kind !== "session") return yield* Effect.die(new Error("The caller is not a session."))
  const wanted = { name: "script", capability: "read_write", expires_in_days: 1 } as const
  const { secret } = yield* (yield* ApiKeys).create(caller, { ...wanted, scope: { type: "organization" } })
  return { baseUrl: url, credential: secret }
})

describe("scripts", () => {
  it.live("the typed client creates a project, waits for it and allows one address", () =>
    Effect.gen(function* () {
      const client = NarthexClient.layerFetch(yield* settings)
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
      const client = NarthexClient.layerFetch(yield* settings)
      const { project } = yield* Effect.provide(program("shop"), client)
      assert.strictEqual(project.region_id, "local")
    }).pipe(Effect.provide(MemoryServer.layer))
  )

  it.live("the watcher follows the creation of a project, and resumes where it stopped", () =>
    Effect.gen(function* () {
      const { baseUrl, credential } = yield* settings
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
