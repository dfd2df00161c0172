/**
 * One connection as its bytes: the request is written by hand, and nothing reads ahead, reconnects or mends anything.
 */
import { connect, type Socket } from "node:net"
import { Effect } from "effect"
import { TestApi } from "../../support/wire.ts"
import { SeenStream } from "./SeenStream.ts"

/** Takes chunk framing off; an incomplete chunk waits. */
const unchunked = (bytes: Buffer): Buffer => {
  const parts: Array<Buffer> = []
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd === -1) break
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error(`This is no chunk: ${bytes.toString("latin1", at, at + 40)}`)
    if (lineEnd + 2 + size + 2 > bytes.length) break
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return Buffer.concat(parts)
}

export class RawStream extends SeenStream {
  readonly socket: Socket
  #chunks: Array<Buffer> = []

  /** `at`: a port, or the path of a Unix socket. */
  constructor(at: number | string, text: string) {
    super()
    this.socket = typeof at === "number" ? connect(at, "127.0.0.1") : connect(at)
    this.socket.on("data", (chunk) => {
      this.#chunks.push(chunk)
      this.changed()
    })
    this.socket.on("error", () => {})
    this.socket.on("close", () => {
      this.closed = true
      this.changed()
    })
    this.socket.write(text)
  }

  /** All that came, head and chunk framing included. */
  get bytes(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0] ?? Buffer.alloc(0)
  }

  get head(): string {
    const bytes = this.bytes
    const end = bytes.indexOf("\r\n\r\n")
    return end === -1 ? "" : bytes.toString("latin1", 0, end)
  }

  get status(): number {
    return Number(this.head.split(" ")[1] ?? 0)
  }

  header(name: string): string | undefined {
    const line = this.head.split("\r\n").find((it) => it.toLowerCase().startsWith(`${name}: `))
    return line?.slice(name.length + 2)
  }

  get body(): Buffer {
    const bytes = this.bytes
    const rest = bytes.subarray(bytes.indexOf("\r\n\r\n") + 4)
    return this.header("transfer-encoding") === "chunked" ? unchunked(rest) : rest
  }

  get text(): string {
    return this.body.toString()
  }

  pause(): void {
    this.socket.pause()
  }

  resume(): void {
    this.socket.resume()
  }
}

export interface Wanted {
  readonly method?: string
  readonly path?: string
  readonly version?: string
  readonly token: string | null
  /** Lines as they are. */
  readonly headers?: ReadonlyArray<string>
}

/** The request as text. */
export const requestText = ({ headers = [], method = "GET", path = "/v1/events", token, version = "1.1" }: Wanted) =>
  [
    `${method} ${path} HTTP/${version}`,
    "Host: api.test",
    ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
    ...headers,
    "",
    ""
  ].join("\r\n")

/** A connection that is gone with the scope. */
export const open = (wanted: Wanted) =>
  Effect.flatMap(TestApi, ({ port }) =>
    Effect.acquireRelease(
      Effect.sync(() => new RawStream(port, requestText(wanted))),
      ({ socket }) => Effect.sync(() => socket.destroy())
    )
  )

/** The same, once the stream's first block is there. */
export const opened = (wanted: Wanted) =>
  Effect.tap(open(wanted), (stream) => stream.until("open", (it) => it.text.startsWith(": ok\n")))
