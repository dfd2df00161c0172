/**
 * A handler for `node:http`, `node:http2`, Express, hooks of Fastify, and all else that gives a request and a response of
 * Node's form (docs/design/library.md N17–N20). It imports nothing of Node: what it uses is described here.
 *
 * Pitfall: iterating the request's body. An iteration that ends early destroys the socket, and with it the answer.
 * Pitfall: waiting for `drain` only. A reader that never reads would hold the response after its stream has ended.
 */
import { targetOfUrl } from "./basePath.ts"

/** The members of `http.IncomingMessage` and its HTTP/2 twin that the handler uses, with those that frameworks add. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Express: the target as the client sent it, where `url` is what is below the mount point `baseUrl`. */
  readonly originalUrl?: string
  readonly baseUrl?: string
  /** The body, if a framework has read it. */
  readonly body?: unknown
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly rawHeaders: ReadonlyArray<string>
  readonly readableEnded: boolean
  readonly httpVersionMajor: number
  readonly socket: { readonly remoteAddress?: string | undefined } | null
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown
  on(event: "end" | "close" | "error", listener: () => void): unknown
  pause(): unknown
  resume(): unknown
}

/** The members of `http.ServerResponse` and its HTTP/2 twin that the handler uses. */
export interface NodeResponse {
  statusCode: number
  readonly writableEnded: boolean
  setHeader(name: string, value: string | Array<string>): unknown
  flushHeaders(): unknown
  write(chunk: Uint8Array): boolean
  end(chunk?: Uint8Array): unknown
  destroy(): unknown
  on(event: "close" | "drain" | "error", listener: () => void): unknown
}

/** `next`, as Express and Connect pass it, gets the paths that are not the API's. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void) => void

/** How long a response may take to send its last bytes after its stream has ended, as for streams on sockets (E31). */
const linger = 5_000

/** A request in the form of the Fetch standard. Its body is the unread rest of the Node request's. */
export const requestFromNode = (incoming: NodeRequest, signal: AbortSignal): Request => {
  const headers = new Headers()
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    const [name = "", value = ""] = incoming.rawHeaders.slice(at, at + 2)
    if (!name.startsWith(":")) headers.append(name, value)
  }
  const method = (incoming.method ?? "GET").toUpperCase()
  // The Fetch standard has no such requests. No path of the API has them either: 404 or 405, as for OPTIONS.
  const known = /^(CONNECT|TRACE|TRACK)$/.test(method) ? "OPTIONS" : method
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(incoming, headers)
  const init = { method: known, headers, signal, ...(body === null ? {} : { body, duplex: "half" as const }) }
  return new Request(urlOf(incoming), init)
}

/** For the host's own functions alone: the API takes the target as it was sent. */
const urlOf = ({ headers, originalUrl, url = "/" }: NodeRequest): string => {
  const host = headers["host"] ?? headers[":authority"]
  const text = `http://${typeof host === "string" ? host : "localhost"}${targetOfUrl(originalUrl ?? url)}`
  return URL.canParse(text) ? text : "http://localhost/"
}

const bodyOf = (
  incoming: NodeRequest,
  headers: Headers
): ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null => {
  const sent = headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0
  // Express 4 has `{}` as the body of a request without one.
  if (!sent && (incoming.readableEnded || headers.has("content-length"))) return null
  return incoming.readableEnded ? readAlready(incoming.body) : unread(incoming)
}

/** A framework has read the stream, and left its value. */
const readAlready = (body: unknown): Uint8Array<ArrayBuffer> | null => {
  if (body === undefined || body === null) return null
  if (body instanceof Uint8Array) return new Uint8Array(body)
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body))
}

const unread = (incoming: NodeRequest): ReadableStream<Uint8Array> => {
  let open = true
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const close = (end: () => void) => () => {
          if (open) end()
          open = false
        }
        incoming.on("data", (chunk) => {
          if (!open) return
          controller.enqueue(new Uint8Array(chunk))
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause()
        })
        incoming.on(
          "end",
          close(() => controller.close())
        )
        const cut = close(() => controller.error(new Error("The request ended before its body.")))
        incoming.on("error", cut)
        incoming.on("close", cut)
        incoming.pause()
      },
      pull: () => {
        incoming.resume()
      },
      // The rest of the body must arrive although it is not read, or the next request of the connection would not.
      cancel: () => {
        open = false
        incoming.resume()
      }
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 })
  )
}

/** Sends a response of the Fetch standard; done when the last byte was handed over, or the client is gone. */
export const sendToNode = async (
  response: Response,
  incoming: NodeRequest,
  outgoing: NodeResponse,
  gone: AbortSignal
): Promise<void> => {
  outgoing.statusCode = response.status
  for (const [name, value] of response.headers) if (name !== "set-cookie") outgoing.setHeader(name, value)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies)
  if (response.body === null) return void outgoing.end()
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const bytes = new Uint8Array(await response.arrayBuffer())
    outgoing.setHeader("content-length", String(bytes.length))
    return void outgoing.end(bytes)
  }
  // As on the server: a stream's connection carries nothing else. HTTP/2 has no such header.
  if (incoming.httpVersionMajor === 1) outgoing.setHeader("connection", "close")
  outgoing.flushHeaders()
  await relay(response.body.getReader(), outgoing, gone)
}

const relay = async (reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: NodeResponse, gone: AbortSignal) => {
  let wake = () => {}
  const changed = () => wake()
  for (const event of ["drain", "close"] as const) outgoing.on(event, changed)
  // While a full response waits for its client, the stream may be destroyed.
  reader.closed.catch(() => outgoing.destroy()).catch(() => {})
  try {
    while (!gone.aborted) {
      const { done, value } = await reader.read()
      if (done) break
      if (!outgoing.write(value) && !gone.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } catch {
    return void outgoing.destroy()
  }
  if (gone.aborted) return void reader.cancel().catch(() => {})
  outgoing.end()
  const timer = setTimeout(() => outgoing.destroy(), linger)
  outgoing.on("close", () => clearTimeout(timer))
}
