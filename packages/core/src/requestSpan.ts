/**
 * The span of a call that runs for each request. It has no stack trace of its caller: the request says who called, and
 * capturing it costs more than the rest of the span. Where tracing is off, there is none.
 *
 * Pitfall: leaving a disabled span to Effect. It makes one all the same, and a context that contains it.
 */
import { Effect, References } from "effect"

export const requestSpan = (name: string) => {
  const traced = Effect.withSpan(name, undefined, { captureStackTrace: false })
  return <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => (fiber.getRef(References.TracerEnabled) ? traced(call) : call))
}
