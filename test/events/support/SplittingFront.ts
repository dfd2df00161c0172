/**
 * The origin of a page in a browser: serves the page, and relays streams of the API as the console does, with the
 * credential that a browser cannot send. It forwards the response in pieces, or only a part of it.
 *
 * `/whole/…`, `/cut/<n>`, `/bytes/…`, `/pieces/<seed>` and `/sever/<n>` select how; the query is passed to
 * `/v1/events`.
 *
 * Pitfall: severing a stream as soon as its bytes are sent. When the connection fails, Chromium drops what its page has
 * not read, however long ago it arrived. So the page reports what it took, see `took`.
 */
import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"
import { setImmediate, setTimeout } from "node:timers/promises"
import { until } from "../../harness/eventually.ts"

/** How the bytes of a response travel. */
interface Treatment {
  /** Where the piece that begins here ends. */
  readonly until: (at: number) => number
  /** Milliseconds between pieces; 0: the event loop has its turn. */
  readonly pause: number
  /** The connection ends here, once the browser's page has the events before. */
  readonly end?: number
}

const whole: Treatment = { until: () => Number.POSITIVE_INFINITY, pause: 0 }

/** Long enough for a browser to take the first part separately. */
const alone = 4

/** Sizes from 1 to 1,500, the same for the same seed. */
const size = (seed: number, at: number) => 1 + (((((seed + 1) * 2_654_435_761) ^ (at * 40_503)) >>> 0) % 1_500)

const treatmentOf = (path: string, first: boolean): Treatment => {
  const [, way, given = ""] = path.split("/")
  const n = Number(given)
  if (way === "cut") return { until: (at) => (at < n ? n : Number.POSITIVE_INFINITY), pause: alone }
  if (way === "bytes") return { until: (at) => at + 1, pause: 0 }
  if (way === "pieces") return { until: (at) => at + size(n, at), pause: 0 }
  const pause = Number(path.split("/")[3] ?? alone)
  if (way === "sever" && first) return { until: (at) => (at < n ? n : Number.POSITIVE_INFINITY), pause, end: n }
  return whole
}

/**
 * Sets the `retry` of the API's response to one millisecond, in as many digits as before, so that no byte changes its
 * position. It is in the first block; nothing is forwarded until that block is complete.
 */
const hurried = async function* (api: Socket): AsyncGenerator<Buffer> {
  let begun: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of api as AsyncIterable<Buffer>) {
    if (begun === undefined) {
      yield chunk
      continue
    }
    begun = Buffer.concat([begun, chunk])
    const head = begun.indexOf("\r\n\r\n")
    if (head === -1 || !begun.includes("\n\n", head + 4)) continue
    const text = begun.toString("latin1")
    yield Buffer.from(
      text.replace(/^retry: (\d+)$/m, (_, millis: string) => `retry: ${"1".padStart(millis.length, "0")}`),
      "latin1"
    )
    begun = undefined
  }
}

/** Whole events in these bytes of a response. */
export const eventsIn = (bytes: Buffer): number =>
  bytes.toString("latin1").match(/^event: .*\ndata: .*\n\n/gm)?.length ?? 0

const forward = async (
  api: Socket,
  browser: Socket,
  { end, pause, until }: Treatment,
  taken: (events: number) => Promise<void>
): Promise<void> => {
  const sent: Array<Buffer> = []
  let at = 0
  for await (const chunk of hurried(api)) {
    for (let from = 0; from < chunk.length; ) {
      const to = Math.min(chunk.length, from + until(at) - at)
      browser.write(chunk.subarray(from, to))
      if (end !== undefined) sent.push(chunk.subarray(from, to))
      at += to - from
      from = to
      if (at === until(at - 1)) await (pause === 0 ? setImmediate() : setTimeout(pause))
      if (at !== end) continue
      await taken(eventsIn(Buffer.concat(sent)))
      return void browser.end()
    }
  }
  browser.end()
}

const headOf = async (socket: Socket): Promise<string> => {
  let text = ""
  while (!text.includes("\r\n\r\n")) {
    const [chunk] = await once(socket, "data")
    text += String(chunk)
  }
  return text
}

export interface Origin {
  readonly api: number
  readonly token: string
  readonly page: string
  /** The position to send for a browser that has none yet. */
  readonly from?: string
}

export class SplittingFront {
  readonly port: number
  /** The `Last-Event-ID` that browsers sent when they reconnected, by path; `null`: none. */
  readonly resumed = new Map<string, string | null>()
  readonly #took = new Map<string, number>()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
  }

  static async start(origin: Origin): Promise<SplittingFront> {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const front = new SplittingFront(server, typeof address === "object" && address !== null ? address.port : 0)
    const known = new Set<string>()
    server.on("connection", async (browser) => {
      front.#own(browser)
      // A browser opens connections ahead of its needs.
      const head = await headOf(browser).catch(() => "")
      const [, target = ""] = head.split(" ")
      const [path = "", query = ""] = target.split("?")
      if (head === "") return
      if (path.split("/").length < 3) {
        const body = path === "/" ? origin.page : ""
        const status = path === "/" ? "200 OK" : "404 Not Found"
        browser.end(
          `HTTP/1.1 ${status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
        )
        return
      }
      const first = !known.has(path)
      known.add(path)
      const sent = /^last-event-id: (.*)\r$/im.exec(head)?.[1] ?? null
      if (!first) front.resumed.set(path, sent)
      const id = sent ?? origin.from
      const api = front.#own(connect(origin.api, "127.0.0.1"))
      browser.on("close", () => api.destroy())
      api.write(
        [
          `GET /v1/events?${query} HTTP/1.1`,
          "Host: api.test",
          `Authorization: Bearer ${origin.token}`,
          "Accept: text/event-stream",
          ...(id === undefined ? [] : [`Last-Event-ID: ${id}`]),
          "",
          ""
        ].join("\r\n")
      )
      const taken = (events: number) =>
        until(`the page to take ${events} events of ${path}`, () => (front.#took.get(path) ?? 0) >= events)
      await forward(api, browser, treatmentOf(path, first), taken).catch(() => browser.destroy())
    })
    return front
  }

  /** The page reports how many events of a stream it has. */
  took(path: string, events: number): void {
    this.#took.set(path, events)
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #own(socket: Socket): Socket {
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.on("error", () => {})
    socket.on("close", () => this.#sockets.delete(socket))
    return socket
  }
}
