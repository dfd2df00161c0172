/**
 * One connection as its bytes: the request is written by hand, and nothing reads ahead, reconnects or mends anything.
 */
import { connect, type Socket } from "node:net"
import { Effect } from "effect"
import { TestApi } from "../../support/wire.ts"

export interface Block {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
  readonly comments: ReadonlyArray<string>
  readonly lines: ReadonlyArray<string>
}

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

const member = (lines: ReadonlyArray<string>, name: string) =>
  lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)

/** The whole blocks of a stream's text. */
export const blocksOf = (text: string): ReadonlyArray<Block> =>
  text
    .split("\n\n")
    .slice(0, -1)
    .map((block) => {
      const lines = block.split("\n")
      const comments = lines.filter((line) => line.startsWith(":"))
      return { id: member(lines, "id"), event: member(lines, "event"), data: member(lines, "data"), comments, lines }
    })

export class RawStream {
  readonly socket: Socket
  closed = false
  #chunks: Array<Buffer> = []
  #changed: () => void = () => {}

  /** `at`: a port, or the path of a Unix socket. */
  constructor(at: number | string, text: string) {
    this.socket = typeof at === "number" ? connect(at, "127.0.0.1") : connect(at)
    this.socket.on("data", (chunk) => {
      this.#chunks.push(chunk)
      this.#changed()
    })
    this.socket.on("error", () => {})
    this.socket.on("close", () => {
      this.closed = true
      this.#changed()
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

  get blocks(): ReadonlyArray<Block> {
    return blocksOf(this.text)
  }

  get events(): ReadonlyArray<Block> {
    return this.blocks.filter((block) => block.event !== undefined)
  }

  /** Waits until the connection shows it. */
  until(what: string, shown: (stream: RawStream) => boolean): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const look = () => {
        if (shown(this)) resume(Effect.void)
        else if (this.closed) resume(Effect.die(new Error(`Closed before ${what}:\n${this.head}\n\n${this.text}`)))
      }
      this.#changed = look
      look()
    }).pipe(
      Effect.timeoutOrElse({
        duration: "45 seconds",
        orElse: () => Effect.die(new Error(`Waited 45 s for ${what}:\n${this.head}\n\n${this.text.slice(-2_000)}`))
      })
    )
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
