/**
 * A Node response as a sink of the event broker: frames are written to the response, over HTTP/1.1 and HTTP/2 alike.
 *
 * Over HTTP/1.1 the stream ends with its connection (`Connection: close`, docs/design/events.md E35), so its body needs no
 * chunk framing (RFC 9112 §6.3), and a frame is a single write.
 *
 * Pitfall: waiting for `drain` only. A connection may close without draining.
 */
import type { EventEmitter } from "node:events"
import { ServerResponse } from "node:http"
import type { Http2ServerResponse } from "node:http2"
import type { StreamSink } from "@narthex/core"
import { eventStreamHeaders } from "./Transport.ts"

/** The response of a request over HTTP/1.1 or HTTP/2. */
export type AnyResponse = ServerResponse | Http2ServerResponse

/** The members of both that a stream needs. */
interface Writer extends Pick<EventEmitter, "on"> {
  readonly write: (bytes: Uint8Array) => boolean
  readonly end: () => void
  readonly destroy: () => void
}

export const openSink = (response: AnyResponse): StreamSink => {
  if (!(response instanceof ServerResponse)) {
    response.writeHead(200, eventStreamHeaders)
    return new ResponseSink(response)
  }
  response.removeHeader("transfer-encoding")
  response.writeHead(200, { ...eventStreamHeaders, connection: "close" })
  response.flushHeaders()
  letGo(response)
  return new ResponseSink(response)
}

/**
 * The framework does not touch a response that claims to have ended, so the fiber of the request need not wait for the
 * end of the stream; its memory would be most of what a connection costs.
 */
const letGo = (response: ServerResponse) => {
  Object.defineProperty(response, "writableEnded", { value: true })
}

/** A class, because thousands of instances share its methods. */
class ResponseSink implements StreamSink {
  readonly #response: Writer

  constructor(response: Writer) {
    this.#response = response
  }

  write(bytes: Uint8Array) {
    return this.#response.write(bytes)
  }

  end() {
    this.#response.end()
  }

  destroy() {
    this.#response.destroy()
  }

  onDrain(callback: () => void) {
    this.#response.on("drain", callback)
  }

  onClose(callback: () => void) {
    this.#response.on("close", callback)
  }
}
