/** One HTTP/2 session, and streams on it. Nothing reconnects or mends anything. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders
} from "node:http2"
import { Effect } from "effect"
import { eventually } from "../../../../../test/harness/eventually.ts"
import { idToken } from "../../support/apiOver.ts"
import { TestApi } from "../../support/wire.ts"
import { type Block, blocksOf } from "./SeenStream.ts"

const seen = <A extends { readonly closed: boolean }>(what: string, it: A, shown: (it: A) => boolean) =>
  eventually(
    what,
    Effect.suspend(() => {
      const so = shown(it)
      return it.closed && !so ? Effect.die(new Error(`Closed before ${what}.`)) : Effect.succeed(so)
    })
  )

export class Http2Stream {
  readonly stream: ClientHttp2Stream
  headers: IncomingHttpHeaders & IncomingHttpStatusHeader = {}
  /** The server said that this was all. */
  ended = false
  closed = false
  #chunks: Array<Buffer> = []
  #read: { readonly length: number; readonly events: ReadonlyArray<Block> } = { length: 0, events: [] }

  constructor(stream: ClientHttp2Stream) {
    this.stream = stream
    stream.on("response", (headers) => {
      this.headers = headers
    })
    stream.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk)
    })
    stream.on("end", () => {
      this.ended = true
    })
    stream.on("close", () => {
      this.closed = true
    })
    stream.on("error", () => {})
  }

  get status(): number {
    return this.headers[":status"] ?? 0
  }

  get text(): string {
    return this.#bytes.toString()
  }

  get events(): ReadonlyArray<Block> {
    const { length } = this.#bytes
    if (length !== this.#read.length)
      this.#read = { length, events: blocksOf(this.text).filter((block) => block.event !== undefined) }
    return this.#read.events
  }

  get #bytes(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0] ?? Buffer.alloc(0)
  }

  /** Waits until the stream shows it. */
  until(what: string, shown: (stream: Http2Stream) => boolean): Effect.Effect<void> {
    return Effect.asVoid(seen(what, this, shown))
  }
}

export class Http2Client {
  readonly session: ClientHttp2Session
  /** The server will take no more streams on it. */
  going = false

  constructor(port: number) {
    this.session = connect(`http://127.0.0.1:${port}`)
    this.session.on("goaway", () => {
      this.going = true
    })
    this.session.on("error", () => {})
  }

  get closed(): boolean {
    return this.session.closed
  }

  request(headers: OutgoingHttpHeaders, body?: unknown): Http2Stream {
    const stream = this.session.request(
      { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      { endStream: body === undefined }
    )
    if (body !== undefined) stream.end(JSON.stringify(body))
    return new Http2Stream(stream)
  }

  /** An event stream, once its first line is there. */
  opened(token: string, path = "/v1/events", headers: OutgoingHttpHeaders = {}): Effect.Effect<Http2Stream> {
    const stream = this.request({ ":path": path, authorization: `Bearer ${token}`, ...headers })
    return Effect.as(
      stream.until("open", ({ text }) => text.startsWith(": ok\n")),
      stream
    )
  }

  signIn(email: string): Effect.Effect<string> {
    const answer = this.request({ ":method": "POST", ":path": "/v1/auth/exchange" }, { id_token: idToken(email) })
    return Effect.map(
      answer.until("answered", ({ ended }) => ended),
      () => JSON.parse(answer.text).access_token
    )
  }
}

/** A session that is gone with the scope. */
export const http2Client = Effect.flatMap(TestApi, ({ port }) =>
  Effect.acquireRelease(
    Effect.sync(() => new Http2Client(port)),
    ({ session }) => Effect.sync(() => session.destroy())
  )
)
