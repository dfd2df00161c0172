/**
 * A Node response as a sink of the event broker.
 *
 * Over HTTP/1.1, `node:http` sends the head, and frames that are chunked already are written to the socket directly,
 * which is 1.5 times as fast as `res.write` (docs/design/events.md E25). Over HTTP/2 and for HTTP/1.0 clients, frames
 * are written to the response.
 *
 * Pitfall: waiting for `drain` only. A socket may close without draining.
 * Pitfall: leaving the last chunk to Node. Node does not know that the body is chunked, so `end` must write it.
 */
import { ServerResponse } from "node:http"
import type { Http2ServerResponse } from "node:http2"
import type { Socket } from "node:net"
import type { SseBytes, StreamSink } from "@narthex/core"
import { eventStreamHeaders } from "./Transport.ts"

const lastChunk = "0\r\n\r\n"

/** The response of a request over HTTP/1.1 or HTTP/2. */
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
 * Hands the socket over to the broker. The framework does not touch a response that claims to have ended, so the fiber
 * of the request need not wait for the end of the stream; its memory would be most of what a connection costs. Most of
 * the rest is held by listeners, which wait for a `finish` that never comes, and by the request's headers, which
 * include the credential.
 */
const letGo = (response: ServerResponse) => {
  Object.defineProperty(response, "writableEnded", { value: true })
  response.removeAllListeners()
  response.req.headers = {}
  response.req.rawHeaders = []
}

/** An HTTP/1.1 connection that carries only the stream. A class, because thousands of instances share its methods. */
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
    // A client that disconnected while the ring was loading has closed the socket already; no event follows.
    if (this.#socket.destroyed) setImmediate(callback)
    else this.#socket.on("close", callback)
  }
}

/** A socket copies bytes that are not a `Buffer` on every write; thousands of streams share the buffers made here. */
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
