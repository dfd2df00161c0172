/**
 * A Node response as a sink of the broker.
 *
 * Over HTTP/1.1 the head goes out through `node:http` and the frames, chunked already, straight to the socket: that is
 * half again as fast as `res.write` (events.md, §5). Over HTTP/2 and to HTTP/1.0 clients the payload takes the
 * ordinary way.
 * What one would get wrong: a socket may close without ever draining, and `end` must write the last chunk itself.
 */
import { ServerResponse } from "node:http"
import type { Http2ServerResponse } from "node:http2"
import type { SseBytes, StreamSink } from "@narthex/core"

export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no"
} as const

/** Does an `Accept` header take event streams? An absent one takes everything. */
export const acceptsEventStream = (accept: string | undefined): boolean =>
  accept === undefined ||
  accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    const refused = parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter))
    return !refused && ["text/event-stream", "text/*", "*/*", ""].includes(type)
  })

const lastChunk = "0\r\n\r\n"

/** What a request is answered on, over HTTP/1.1 or HTTP/2. */
export type AnyResponse = ServerResponse | Http2ServerResponse

export const openSink = (response: AnyResponse): StreamSink =>
  response instanceof ServerResponse ? http1Sink(response) : http2Sink(response)

const http1Sink = (response: ServerResponse): StreamSink => {
  const { socket } = response
  const chunked = response.req.httpVersion === "1.1"
  response.writeHead(200, {
    ...eventStreamHeaders,
    connection: "close",
    ...(chunked ? { "transfer-encoding": "chunked" } : {})
  })
  response.flushHeaders()
  socket?.setNoDelay(true)
  socket?.setTimeout(0)

  if (!chunked || socket === null) return plainSink(response)
  letGo(response)
  return {
    write: (bytes: SseBytes) => socket.write(bytes.chunked),
    buffered: () => socket.writableLength,
    end: () => {
      if (!socket.writable) return
      socket.end(lastChunk)
    },
    destroy: () => void response.destroy(),
    onDrain: (callback) => void socket.on("drain", callback),
    // Whoever hung up while the ring was loading has closed already, and nobody else would notice any more.
    onClose: (callback) => void (socket.destroyed ? setImmediate(callback) : response.once("close", callback))
  }
}

/**
 * The socket is the broker's from here on. The framework leaves a response alone that says it has ended, so the request's
 * fiber need not wait for the end of the stream: what it holds is most of what a connection would cost.
 */
const letGo = (response: ServerResponse) => {
  Object.defineProperty(response, "writableEnded", { value: true })
}

const plainSink = (response: ServerResponse): StreamSink => ({
  write: (bytes) => response.write(bytes.payload),
  buffered: () => response.writableLength,
  end: () => void response.end(),
  destroy: () => void response.destroy(),
  onDrain: (callback) => void response.on("drain", callback),
  onClose: (callback) => void response.once("close", callback)
})

const http2Sink = (response: Http2ServerResponse): StreamSink => {
  response.writeHead(200, eventStreamHeaders)
  const { stream } = response
  return {
    write: (bytes) => stream.write(bytes.payload),
    buffered: () => stream.writableLength,
    end: () => void stream.end(),
    destroy: () => void stream.destroy(),
    onDrain: (callback) => void stream.on("drain", callback),
    onClose: (callback) => void stream.once("close", callback)
  }
}
