/** The handler for Node when a client leaves or reads nothing (docs/design/library.md N17, N20). */
import { EventEmitter } from "node:events"
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { handlers } from "../../src/server/handlers.ts"
import { sendToNode } from "../../src/server/nodeHandler.ts"

/** A response that sends what it gets, or nothing. */
class Outgoing extends EventEmitter {
  statusCode = 0
  readonly writableEnded = false
  destroyed = false
  ended = false
  readonly #sends: boolean

  constructor(sends: boolean) {
    super()
    this.#sends = sends
  }

  setHeader(): void {}
  flushHeaders(): void {}
  write(): boolean {
    return this.#sends
  }
  end(): void {
    this.ended = true
  }
  destroy(): void {
    this.destroyed = true
    this.emit("close")
  }
}

const incoming = Object.assign(new EventEmitter(), {
  headers: {},
  rawHeaders: [],
  readableEnded: true,
  httpVersionMajor: 1,
  socket: null,
  pause: () => {},
  resume: () => {}
})

/** A stream with one frame, and the response that it is sent to. */
const streaming = (sends: boolean) => {
  const outgoing = new Outgoing(sends)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const written = writer.write(new TextEncoder().encode(": ok\n"))
  const response = new Response(readable, { headers: { "content-type": "text/event-stream; charset=utf-8" } })
  const sent = sendToNode(response, incoming, outgoing, new AbortController().signal)
  return { outgoing, writer, written, sent }
}

describe("a client that leaves", () => {
  it("a call is aborted when its client resets the stream of HTTP/2, which counts as finished then", () => {
    const signals: Array<AbortSignal> = []
    const { node } = handlers(
      ({ signal }) => {
        signals.push(signal)
        return new Promise(() => {})
      },
      { basePath: "" }
    )
    const outgoing = Object.assign(new Outgoing(true), { writableFinished: true })
    node(incoming, outgoing)
    assert.deepStrictEqual(
      signals.map(({ aborted }) => aborted),
      [false]
    )
    outgoing.emit("close")
    assert.deepStrictEqual(
      signals.map(({ aborted }) => aborted),
      [true]
    )
  })
})

describe("a response whose client reads nothing", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
  afterEach(() => void vi.useRealTimers())

  it("a response whose client reads nothing is destroyed five seconds after its stream has ended", async () => {
    const { outgoing, sent, writer } = streaming(true)
    await writer.close()
    await sent
    assert.isTrue(outgoing.ended)
    vi.advanceTimersByTime(4_999)
    assert.isFalse(outgoing.destroyed)
    vi.advanceTimersByTime(1)
    assert.isTrue(outgoing.destroyed)
  })

  it("a response that was sent in time is not destroyed, and leaves no timer", async () => {
    const { outgoing, sent, writer } = streaming(true)
    await writer.close()
    await sent
    outgoing.emit("close")
    assert.strictEqual(vi.getTimerCount(), 0)
    assert.isFalse(outgoing.destroyed)
  })

  it("a full response is destroyed with its stream", async () => {
    const { outgoing, sent, writer, written } = streaming(false)
    await written
    await writer.abort(new Error("The stream was closed before its last bytes were read."))
    await sent
    assert.isTrue(outgoing.destroyed)
    assert.isFalse(outgoing.ended)
  })
})
