/**
 * Port: parts of requests and answers that the framework shows differently on each platform: headers that were sent twice,
 * whether there is a body, and answers that are written while their streams last.
 *
 * `FetchTransport` is for every runtime with `Request` and `Response`, `NodeTransport` for the server on Node's
 * sockets.
 */
import type { OpenStream, StreamSink } from "@narthex/core"
import { Context, type Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

/** The answer to one request as a stream of bytes. */
export interface StreamedAnswer {
  /** Sends the head, with status 200 and `eventStreamHeaders`. Called at most once. */
  readonly open: () => StreamSink
  /** The answer of the handler, for a stream that lives by itself from now on. */
  readonly held: (stream: OpenStream) => Effect.Effect<HttpServerResponse.HttpServerResponse>
  /** The answer of the handler, for a stream that this effect writes. It is run once, and ends with the connection. */
  readonly written: (writing: Effect.Effect<void>) => Effect.Effect<HttpServerResponse.HttpServerResponse>
}

export class Transport extends Context.Service<
  Transport,
  {
    /** Whether this header was sent more than once. */
    readonly repeats: (request: HttpServerRequest.HttpServerRequest, name: string) => boolean
    /**
     * Whether the request has a body that is not empty. A body in chunks (`Transfer-Encoding`) counts, also without bytes, and
     * so does a body of unknown length that does not begin within a second.
     */
    readonly hasBody: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<boolean>
    /** Headers of every answer, for answers whose head the transport writes itself. */
    readonly announce: (
      request: HttpServerRequest.HttpServerRequest,
      headers: Readonly<Record<string, string>>
    ) => Effect.Effect<void>
    readonly streamed: (request: HttpServerRequest.HttpServerRequest) => StreamedAnswer
  }
>()("@narthex/http/transport/Transport") {}

/** Whether the headers announce a body; `undefined`: they say nothing, as may happen in HTTP/2 and for a `Request`. */
export const announcedBody = ({ headers }: HttpServerRequest.HttpServerRequest): boolean | undefined => {
  if (headers["transfer-encoding"] !== undefined) return true
  const length = headers["content-length"]
  return length === undefined ? undefined : Number(length) > 0
}

export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no"
} as const
