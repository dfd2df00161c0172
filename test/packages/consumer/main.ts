/** A program of a consumer: `tarballs.test.ts` installs the packed packages, checks its types and runs it. */
import { randomBytes } from "node:crypto"
import { Api, problemCatalog } from "@narthex/api"
import * as Core from "@narthex/core"
import { layerApiServer } from "@narthex/http"
import { PostgresStorage } from "@narthex/postgres"
import { Effect, Layer, Redacted } from "effect"
import { OpenApi } from "effect/http-api"
import { createControlPlane } from "narthex"

const pepper = { id: "1", key: Redacted.make(new Uint8Array(randomBytes(32))) }

const core = Core.layerServices.pipe(
  Layer.provideMerge(Layer.mergeAll(Core.layerMemoryPorts, Core.TokenSigner.layerMemory, Core.layerMemoryComputes)),
  Layer.provideMerge(Layer.merge(Core.KeyDigester.layer(pepper), Core.IdentityProvider.layerMemory(new Map())))
)

const program = Effect.gen(function* () {
  yield* (yield* Core.RegionCatalog).seed([Core.RegionId.make("eu-1")])
  return yield* (yield* Core.Regions).list
})

const regions = await Effect.runPromise(Effect.provide(program, core))
await using cp = await createControlPlane({ log: "off" })
const answer = await cp.fetch(new Request("https://host.example.com/v1/auth/providers"))

const { paths } = OpenApi.fromApi(Api)

console.log(
  JSON.stringify({
    regions: regions.map(({ region_id }) => region_id),
    calls: Object.keys(paths).length,
    problem: problemCatalog.region_required.status,
    server: typeof layerApiServer,
    storage: typeof PostgresStorage.layer,
    mounted: answer.status
  })
)
