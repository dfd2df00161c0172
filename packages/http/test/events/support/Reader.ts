/** Clients of a stream of events that count (`streamApi.counting`): what each has got, without keeping the bytes. */
import type { Socket } from "node:net"
import { Effect } from "effect"
import { TestApi } from "../../support/wire.ts"
import { RawStream, requestText } from "./RawStream.ts"

const blocks = /id: (\w{26})\nevent: (\S+)\ndata: (.*)\n\n/g
const ended = "\n\n"

export abstract class Reader {
  closed = false
  /** The first and the last number; all between were there, or `broken` says where not. */
  first: number | undefined
  last = 0
  broken: string | undefined
  /** The data of the overflow that the broker reported, if it did. */
  overflow: { readonly dropped: number; readonly latest_id: string } | undefined
  /** How many bytes of the stream it has read. */
  received = 0
  /** Which number an id has, if they are kept. */
  readonly numbers: Map<string, number> | undefined
  #rest = ""

  constructor(numbers?: Map<string, number>) {
    this.numbers = numbers
  }

  /** Reads everything from now on. */
  abstract keepUp(): this
  /** Reads nothing until `keepUp`. */
  abstract stall(): this
  /** Reads only when the test calls `take`. */
  abstract dawdle(): this
  /** Reads what has arrived, up to so many bytes. */
  abstract take(most: number): void
  /** Goes away. */
  abstract leave(): void

  protected took(text: string) {
    this.received += text.length
    const all = this.#rest + text
    const whole = all.lastIndexOf(ended) + ended.length
    if (whole < ended.length) {
      this.#rest = all
      return
    }
    for (const [, id = "", type = "", data = ""] of all.slice(0, whole).matchAll(blocks)) this.#saw(id, type, data)
    this.#rest = all.slice(whole)
  }

  #saw(id: string, type: string, data: string) {
    if (type === "overflow.v1") {
      this.overflow = JSON.parse(data).data
      return
    }
    const n = Number(/"n":(\d+)/.exec(data)?.[1])
    if (this.first !== undefined && n !== this.last + 1) this.broken ??= `${this.last} was followed by ${type} ${n}`
    this.first ??= n
    this.last = n
    this.numbers?.set(id, n)
  }
}

export class SocketReader extends Reader {
  readonly #socket: Socket

  constructor(port: number, token: string, numbers?: Map<string, number>) {
    super(numbers)
    const stream = new RawStream(port, requestText({ token }))
    this.#socket = stream.socket
    this.#socket.removeAllListeners("data")
    this.#socket.setEncoding("latin1")
    this.#socket.on("close", () => {
      this.closed = true
    })
  }

  keepUp(): this {
    this.#socket.removeAllListeners("readable")
    this.#socket.on("data", (text: string) => this.took(text))
    this.#socket.resume()
    return this
  }

  stall(): this {
    this.#socket.pause()
    return this
  }

  dawdle(): this {
    this.#socket.on("readable", () => {})
    return this
  }

  take(most: number): void {
    const there = Math.min(this.#socket.readableLength, most)
    if (there > 0) this.took(this.#socket.read(there) ?? "")
  }

  leave(): void {
    this.#socket.destroy()
  }
}

/** The body of a `Response`. Unread bytes are in the body's queue, and nowhere else. */
class BodyReader extends Reader {
  readonly #aborts = new AbortController()
  readonly #response: Promise<Response>
  readonly #decoder = new TextDecoder("latin1")
  /** How many bytes it may read. */
  #budget = 0
  #reading = false
  #body: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor(fetch: (request: Request) => Promise<Response>, token: string, numbers?: Map<string, number>) {
    super(numbers)
    const headers = { authorization: `Bearer ${token}` }
    this.#response = fetch(new Request("http://api.test/v1/events", { headers, signal: this.#aborts.signal }))
  }

  keepUp(): this {
    this.take(Number.POSITIVE_INFINITY)
    return this
  }

  stall(): this {
    return this
  }

  dawdle(): this {
    return this
  }

  take(most: number): void {
    this.#budget += most
    if (this.#reading) return
    this.#reading = true
    this.#read().catch(() => {
      this.closed = true
    })
  }

  leave(): void {
    this.#aborts.abort(new Error("The client left."))
  }

  async #read() {
    this.#body ??= (await this.#response).body?.getReader()
    while (this.#budget > 0 && this.#body !== undefined) {
      const { done, value } = await this.#body.read()
      if (done) {
        this.closed = true
        return
      }
      this.#budget -= value.length
      this.took(this.#decoder.decode(value, { stream: true }))
    }
    this.#reading = false
  }
}

/** Makes readers of the API under test: over sockets, or of bodies. */
export const makeReader = Effect.map(
  TestApi,
  ({ fetch, port }) =>
    (token: string, numbers?: Map<string, number>): Reader =>
      fetch === undefined ? new SocketReader(port, token, numbers) : new BodyReader(fetch, token, numbers)
)
