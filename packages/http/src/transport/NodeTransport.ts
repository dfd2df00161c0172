/** `Transport` on the requests and responses of `node:http` and `node:http2`. */
import type { IncomingMessage } from "node:http"
import type { Http2ServerRequest } from "node:http2"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { openSink } from "./responseSink.ts"
import { announcedBody, Transport } from "./Transport.ts"

/** Names and values in turn. It runs for each request. */
const countOf = (rawHeaders: ReadonlyArray<string>, name: string) => {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] ?? ""
    if (header.length === name.length && header.toLowerCase() === name) count += 1
  }
  return count
}

/** HTTP/1.1 announces every body by a header; HTTP/2 marks the end of a request without one. */
const endsWithItsHead = (incoming: IncomingMessage | Http2ServerRequest) =>
  !("stream" in incoming) || incoming.stream.endAfterHeaders

export const NodeTransport: { readonly layer: Layer.Layer<Transport> } = {
  layer: Layer.succeed(Transport, {
    repeats: (request, name) => countOf(NodeHttpServerRequest.toIncomingMessage(request).rawHeaders, name) > 1,
    hasBody: (request) =>
      Effect.sync(() => announcedBody(request) ?? !endsWithItsHead(NodeHttpServerRequest.toIncomingMessage(request))),
    // Node merges them with the headers of a head that is written later.
    announce: (request, headers) =>
      Effect.sync(() => {
        const response = NodeHttpServerRequest.toServerResponse(request)
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      }),
    streamed: (request) => {
      const response = NodeHttpServerRequest.toServerResponse(request)
      return {
        open: () => openSink(response),
        held: (stream) =>
          Effect.as(
            response.writableEnded ? Effect.void : Effect.onInterrupt(stream.ended, () => stream.close),
            HttpServerResponse.empty()
          ),
        written: (writing) => Effect.as(writing, HttpServerResponse.empty())
      }
    }
  })
}
