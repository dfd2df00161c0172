/**
 * `Transport` of a server on Node that its own process calls too (`DirectApi`). Requests of sockets are Node's; those of the
 * process have no socket, and their streams are bodies that the caller reads.
 */
import { Context, Effect, Layer } from "effect"
import { HttpClientRequest, type HttpServerRequest } from "effect/http"
import { FetchTransport } from "./FetchTransport.ts"
import { NodeTransport } from "./NodeTransport.ts"
import { Transport } from "./Transport.ts"

/** Whether a request of the process has a body. Its length is in no header. */
const carriesBytes = ({ body }: HttpClientRequest.HttpClientRequest) =>
  body._tag === "Uint8Array" ? body.body.length > 0 : body._tag !== "Empty"

const hasSocket = ({ source }: HttpServerRequest.HttpServerRequest) => !HttpClientRequest.isHttpClientRequest(source)

export const ServerTransport: { readonly layer: Layer.Layer<Transport> } = {
  layer: Layer.effect(
    Transport,
    Effect.gen(function* () {
      const node = Context.get(yield* Layer.build(NodeTransport.layer), Transport)
      const direct = Context.get(yield* Layer.build(FetchTransport.layer), Transport)
      const of = (request: HttpServerRequest.HttpServerRequest) => (hasSocket(request) ? node : direct)
      return Transport.of({
        repeats: (request, name) => of(request).repeats(request, name),
        hasBody: (request) =>
          HttpClientRequest.isHttpClientRequest(request.source)
            ? Effect.succeed(carriesBytes(request.source))
            : node.hasBody(request),
        announce: (request, headers) => of(request).announce(request, headers),
        streamed: (request) => of(request).streamed(request)
      })
    })
  )
}
