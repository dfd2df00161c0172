/**
 * Requests as they are written: no client library folds paths, merges headers or follows anything.
 *
 * Answers are read whole, except event streams, which are left after their head.
 */
import { Agent, type OutgoingHttpHeaders, request } from "node:http"
import { Context, Effect } from "effect"

/** Where the API under test listens. */
export class TestApi extends Context.Service<TestApi, { readonly port: number }>()("test/TestApi") {}

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

/** What no answer is equal in. */
const ofTheMoment = new Set(["date", "connection", "keep-alive", "transfer-encoding"])

/** Status, headers and body as one text, for comparing answers to the byte. */
export const bytes = ({ headers, status, text }: Answer): string =>
  JSON.stringify([status, Object.entries(headers).filter(([name]) => !ofTheMoment.has(name)), text])

export const call = (method: string, path: string, { body, headers = {}, raw, token }: Sent = {}) =>
  Effect.flatMap(TestApi, ({ port }) =>
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
            resume(Effect.succeed({ ...head, text, body: parsed(text) }))
          })
        }
      )
      outgoing.on("error", (error) => resume(Effect.die(error)))
      outgoing.end(payload)
    })
  )

const flat = (headers: NodeJS.Dict<string | Array<string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
  )

const parsed = (text: string): unknown => {
  if (!/^[{[]/.test(text)) return undefined
  return JSON.parse(text)
}
