/** Clients of a stream of events that count (`streamApi.counting`): what each has got, without keeping the bytes. */
import type { Socket } from "node:net"
import { RawStream, requestText } from "./RawStream.ts"

const blocks = /id: (\w{26})\nevent: (\S+)\ndata: (.*)\n\n/g
const ended = "\n\n"

export class Reader {
  readonly socket: Socket
  closed = false
  open = false
  /** The first and the last number; all between were there, or `broken` says where not. */
  first: number | undefined
  last = 0
  broken: string | undefined
  /** What the broker itself said, if it did. */
  overflow: { readonly dropped: number; readonly latest_id: string } | undefined
  /** Which number an id has, if they are kept. */
  readonly numbers: Map<string, number> | undefined
  #rest = ""

  constructor(port: number, token: string, numbers?: Map<string, number>) {
    const stream = new RawStream(port, requestText({ token }))
    this.socket = stream.socket
    this.numbers = numbers
    this.socket.removeAllListeners("data")
    this.socket.setEncoding("latin1")
    this.socket.on("close", () => {
      this.closed = true
    })
  }

  /** How many numbers it has. */
  get count(): number {
    return this.first === undefined ? 0 : this.last - this.first + 1
  }

  /** From now on it reads all that comes. */
  keepUp(): this {
    this.socket.removeAllListeners("readable")
    this.socket.on("data", (text: string) => this.#take(text))
    this.socket.resume()
    return this
  }

  /** It reads when the test says so, see `take`. */
  dawdle(): this {
    this.socket.on("readable", () => {})
    return this
  }

  /** Reads what has arrived, up to so many bytes. */
  take(most: number): void {
    const there = Math.min(this.socket.readableLength, most)
    if (there > 0) this.#take(this.socket.read(there) ?? "")
  }

  #take(text: string) {
    this.open = true
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
