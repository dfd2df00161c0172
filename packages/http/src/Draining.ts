/** Whether the server is stopping. Readiness fails from then on, so that load balancers send no new requests. */
import { Context, Effect, Layer } from "effect"

export class Draining extends Context.Service<
  Draining,
  {
    readonly begun: () => boolean
    readonly begin: Effect.Effect<void>
  }
>()("@narthex/http/Draining") {
  static readonly layer: Layer.Layer<Draining> = Layer.sync(Draining, () => {
    let begun = false
    return {
      begun: () => begun,
      begin: Effect.sync(() => {
        begun = true
      })
    }
  })
}
