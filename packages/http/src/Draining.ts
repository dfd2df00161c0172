/** Whether the server is stopping. Readiness fails from then on, so that load balancers send no new requests. */
import { EventStreams } from "@narthex/core"
import { Context, Duration, Effect, Layer } from "effect"

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

/**
 * Ends the streams when it is released, within half of the grace. A listener that ends waits for its open connections, so
 * this is built on top of it: finalizers run in reverse order.
 */
export const layerDrainFirst = (grace: Duration.Duration): Layer.Layer<never, never, Draining | EventStreams> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const draining = yield* Draining
      const streams = yield* EventStreams
      yield* Effect.addFinalizer(() => Effect.andThen(draining.begin, streams.drain(Duration.times(grace, 0.5))))
    })
  )
