/**
 * The registry of event streams that browsers have open through this process. It ends the streams of one session at
 * sign-out, and all of them at shutdown.
 */
import { Context, Deferred, Effect, Layer, type Scope } from "effect"

export class Relays extends Context.Service<
  Relays,
  {
    /** Registers a stream for the lifetime of the scope. The returned effect completes when the stream must end. */
    readonly open: (sessionId: string) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
    readonly endSession: (sessionId: string) => Effect.Effect<void>
    /** Ends every stream. Streams that open later end immediately. */
    readonly endAll: Effect.Effect<void>
  }
>()("@narthex/console/Relays") {
  static readonly layer = Layer.effect(
    Relays,
    Effect.sync(() => {
      const streams = new Set<{ readonly sessionId: string; readonly end: Deferred.Deferred<void> }>()
      let closed = false

      const end = (which: (sessionId: string) => boolean) =>
        Effect.forEach(
          [...streams].filter(({ sessionId }) => which(sessionId)),
          ({ end }) => Deferred.succeed(end, undefined),
          { discard: true }
        )

      return Relays.of({
        open: (sessionId) =>
          Effect.acquireRelease(
            Effect.gen(function* () {
              const stream = { sessionId, end: yield* Deferred.make<void>() }
              streams.add(stream)
              if (closed) yield* Deferred.succeed(stream.end, undefined)
              return stream
            }),
            (stream) => Effect.sync(() => streams.delete(stream))
          ).pipe(Effect.map(({ end }) => Deferred.await(end))),
        endSession: (sessionId) => Effect.suspend(() => end((it) => it === sessionId)),
        endAll: Effect.suspend(() => {
          closed = true
          return end(() => true)
        })
      })
    })
  )
}
