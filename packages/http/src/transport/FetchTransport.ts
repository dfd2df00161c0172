/**
 * `Transport` for requests and answers of the Fetch standard: on every runtime that has them, and for calls within the
 * process.
 *
 * A `Headers` joins repeated headers with a comma, so one credential with a comma counts as two. No credential of this
 * API contains one.
 */
import { Duration, Effect, Fiber, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { BodySink } from "./BodySink.ts"
import { announcedBody, eventStreamHeaders, Transport } from "./Transport.ts"

/** How long the beginning of a body may take: this is asked before the caller is known and counted. */
const beginningTimeout = Duration.seconds(1)

/** Reads the beginning of a copy, up to an abort: nothing else tells an empty body of unknown length. */
const beginsWithBytes = async (request: Request, signal: AbortSignal): Promise<boolean> => {
  const reader = request.clone().body?.getReader()
  if (reader === undefined) return false
  // `cancel` ends a read that is waiting.
  signal.addEventListener("abort", () => reader.cancel().catch(() => {}), { once: true })
  try {
    let read = await reader.read()
    while (!read.done && read.value.length === 0) read = await reader.read()
    return !read.done
  } finally {
    reader.cancel().catch(() => {})
  }
}

const answer = ({ body }: BodySink) => {
  const { "content-type": contentType, ...headers } = eventStreamHeaders
  return HttpServerResponse.raw(body, { contentType, headers })
}

export const FetchTransport: { readonly layer: Layer.Layer<Transport> } = {
  layer: Layer.effect(
    Transport,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      return Transport.of({
        repeats: ({ headers }, name) => headers[name]?.includes(",") ?? false,
        hasBody: (request) => {
          const { source } = request
          const announced = announcedBody(request)
          if (announced !== undefined || !(source instanceof Request) || source.body === null)
            return Effect.succeed(announced ?? false)
          // A body that cannot be read, or does not arrive, counts: the read itself fails later.
          return Effect.tryPromise((signal) => beginsWithBytes(source, signal)).pipe(
            Effect.timeout(beginningTimeout),
            Effect.orElseSucceed(() => true)
          )
        },
        // The answer has passed the middleware that sets them.
        announce: () => Effect.void,
        streamed: (request) => {
          let sink: BodySink | undefined
          const opened = Effect.suspend(() =>
            sink === undefined ? Effect.die(new Error("The stream was not opened.")) : Effect.succeed(answer(sink))
          )
          return {
            open: () => {
              sink = new BodySink(request.source instanceof Request ? request.source : undefined)
              return sink
            },
            held: () => opened,
            written: (writing) =>
              Effect.gen(function* () {
                const fiber = yield* Effect.forkIn(writing, scope, { startImmediately: true })
                return yield* Effect.onError(opened, () => Fiber.interrupt(fiber))
              })
          }
        }
      })
    })
  )
}
