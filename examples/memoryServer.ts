/** The API on memory storage and a free port, for tests of your own client. It needs no database and keeps no state. */
import { RegionCatalog, RegionId } from "@narthex/core"
import { Draining, layerApiServer } from "@narthex/http"
import { Context, Duration, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { embedded } from "./embedInMemory.ts"

const Seeded = Layer.effectDiscard(RegionCatalog.use(({ seed }) => seed([RegionId.make("local")])))

export class MemoryServer extends Context.Service<MemoryServer, { readonly url: string }>()(
  "@narthex/examples/MemoryServer"
) {
  static readonly layer = Layer.effect(
    MemoryServer,
    Effect.map(HttpServer.HttpServer, ({ address }) => ({
      url: `http://127.0.0.1:${"port" in address ? address.port : 0}`
    }))
  ).pipe(
    Layer.provide(layerApiServer({ host: "127.0.0.1", port: 0, grace: Duration.millis(200) })),
    Layer.provide(Draining.layer),
    Layer.provide(Seeded),
    Layer.provideMerge(embedded)
  )
}
