/**
 * Requests as they are written: no client library folds paths, merges headers or follows anything.
 *
 * Answers are read whole, except event streams, which are left after their head.
 */
import { Agent, type OutgoingHttpHeaders, request } from "node:http"
import { Context, Effect } from "effect"
import type { HttpClient } from "effect/http"

/** Where the API under test listens, or the function that is the API. */
export class TestApi extends Context.Service<
  TestApi,
  {
    readonly port: number
    readonly fetch?: (request: Request) => Promise<Response>
    /** The API of a server for its own process. */
    readonly direct?: HttpClient.HttpClient
  }
>()("test/TestApi") {}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read member by member by tests that assert on each
  readonly body: any
}

export interface Sent {
  readonly token?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Uint8Array
  readonly headers?: OutgoingHttpHeaders
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

/** Headers that differ between equal answers. */
const ofTheMoment = new Set(["date", "connection", "keep-alive", "transfer-encoding"])

/** Status, headers and body as one text, for comparing answers to the byte. */
export const bytes = ({ headers, status, text }: Answer): string =>
  JSON.stringify([status, Object.entries(headers).filter(([name]) => !ofTheMoment.has(name)), text])

/** A request of the Fetch standard, which has no way to send a header twice or a path as it is. */
const callFetch = async (
  fetch: (request: Request) => Promise<Response>,
  method: string,
  path: string,
  { body, headers = {}, raw, token }: Sent
): Promise<Answer> => {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const sent = new Headers(
    Object.entries(headers).flatMap(
      ([name, value]): ReadonlyArray<[string, string]> =>
        value === undefined ? [] : [value].flat().map((it) => [name, String(it)])
    )
  )
  if (token !== undefined) sent.set("authorization", `Bearer ${token}`)
  if (body !== undefined && !sent.has("content-type")) sent.set("content-type", "application/json")
  const response = await fetch(
    new Request(`http://api.test${path}`, {
      method,
      headers: sent,
      // Bytes: a `Request` gives text a type of its own.
      ...(payload === undefined ? {} : { body: new Uint8Array(Buffer.from(payload)) })
    })
  )
  const head = { status: response.status, headers: Object.fromEntries(response.headers) }
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await response.body?.cancel()
    return { ...head, text: "", body: undefined }
  }
  const text = await response.text()
  return { ...head, text, body: parsed(text) }
}

export const call = (method: string, path: string, sent: Sent = {}) =>
  Effect.flatMap(TestApi, ({ fetch, port }) =>
    fetch === undefined
      ? callSocket(port, method, path, sent)
      : Effect.promise(() => callFetch(fetch, method, path, sent))
  )

const callSocket = (port: number, method: string, path: string, { body, headers = {}, raw, token }: Sent) =>
  Effect.callback<Answer>((resume) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const outgoing = request(
      {
        agent,
        host: "127.0.0.1",
        port,
        method,
        path,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(payload === undefined || headers["transfer-encoding"] !== undefined
            ? {}
            : { "content-length": Buffer.byteLength(payload) }),
          ...headers
        }
      },
      (incoming) => {
        const head = { status: incoming.statusCode ?? 0, headers: flat(incoming.headers) }
        if (incoming.headers["content-type"]?.startsWith("text/event-stream")) {
          resume(Effect.succeed({ ...head, text: "", body: undefined }))
          incoming.on("error", () => {})
          incoming.destroy()
          return
        }
        const chunks: Array<Buffer> = []
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString()
          resume(Effect.succeed({ ...head, text, body: parsed(text, incoming.headers["content-type"]) }))
        })
      }
    )
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.end(payload)
  })

const flat = (headers: NodeJS.Dict<string | Array<string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
  )

/** Lines of JSON are text. */
const parsed = (text: string, type = ""): unknown => {
  if (!/^[{[]/.test(text) || type.startsWith("application/x-ndjson")) return undefined
  return JSON.parse(text)
}
