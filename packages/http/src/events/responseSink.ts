/**
 * A Node response as a sink of the broker.
 *
 * Over HTTP/1.1 the head goes out through `node:http` and the frames, chunked already, straight to the socket: that is
 * half again as fast as `res.write` (docs/design/events.md E25). Over HTTP/2 and to HTTP/1.0 clients the payload takes
 * the ordinary way.
 *
 * Pitfall: waiting for `drain` alone. A socket may close without ever draining.
 * Pitfall: leaving the last chunk to Node. `end` must write it itself.
 */
import { ServerResponse } from "node:http"
import type { Http2ServerResponse } from "node:http2"
import type { Socket } from "node:net"
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
  return new SocketSink(socket)
}

/**
 * The socket is the broker's from here on. The framework leaves a response alone that says it has ended, so the
 * request's fiber need not wait for the end of the stream: what it holds is most of what a connection would cost. Much
 * of the rest is what listeners hold, which wait for a `finish` that never comes, and the request's headers, the
 * credential with them.
 */
const letGo = (response: ServerResponse) => {
  Object.defineProperty(response, "writableEnded", { value: true })
  response.removeAllListeners()
  response.req.headers = {}
  response.req.rawHeaders = []
}

/** An HTTP/1.1 connection that carries nothing but the stream from here on. One object, because there are thousands. */
class SocketSink implements StreamSink {
  readonly #socket: Socket

  constructor(socket: Socket) {
    this.#socket = socket
  }

  write(bytes: SseBytes) {
    return this.#socket.write(bufferOf(bytes))
  }

  end() {
    if (this.#socket.writable) this.#socket.end(lastChunk)
  }

  destroy() {
    this.#socket.destroy()
  }

  onDrain(callback: () => void) {
    this.#socket.on("drain", callback)
  }

  onClose(callback: () => void) {
    // Whoever hung up while the ring was loading has closed already, and nobody else would notice any more.
    if (this.#socket.destroyed) setImmediate(callback)
    else this.#socket.on("close", callback)
  }
}

/** Of bytes that are no `Buffer` a socket makes one, on every write: thousands of streams share what is made here. */
const buffers = new WeakMap<SseBytes, Buffer>()

const bufferOf = (bytes: SseBytes): Buffer => {
  const known = buffers.get(bytes)
  if (known !== undefined) return known
  const { buffer, byteLength, byteOffset } = bytes.chunked
  const made = Buffer.from(buffer, byteOffset, byteLength)
  buffers.set(bytes, made)
  return made
}

const plainSink = (response: ServerResponse): StreamSink => ({
  write: (bytes) => response.write(bytes.payload),
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
    end: () => void stream.end(),
    destroy: () => void stream.destroy(),
    onDrain: (callback) => void stream.on("drain", callback),
    onClose: (callback) => void stream.once("close", callback)
  }
}
