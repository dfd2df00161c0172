/**
 * A test double of the API: real HTTP, answers encoded by the contract's schemas, id tokens verified with the issuer's
 * keys, tokens that expire, organizations that are isolated.
 *
 * It records every request, so that a test can check what the console sent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Context, Effect, Layer } from "effect"
import { DoubleState } from "./DoubleState.ts"
import { answerTo } from "./doubleRoutes.ts"

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: unknown
}

export interface Answered {
  readonly status: number
  readonly body?: unknown
  /** The handler has written the response itself. */
  readonly written?: true
}

const pathOf = (url: string) => url.split("?")[0] ?? ""

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return text === "" ? undefined : JSON.parse(text)
}

export class ApiDouble extends Context.Service<
  ApiDouble,
  {
    readonly url: string
    readonly state: DoubleState
    readonly seen: Array<Seen>
    /** Answers to these paths wait for their promise. */
    readonly held: Map<string, Promise<unknown>>
    /** Waits until a request for this path arrives. */
    readonly arrival: (path: string) => Promise<void>
    /** The last request of this method and path. */
    readonly last: (method: string, path: string) => Seen | undefined
  }
>()("test/ApiDouble") {
  static readonly layer = Layer.effect(
    ApiDouble,
    Effect.gen(function* () {
      const state = new DoubleState()
      const seen: Array<Seen> = []
      const held = new Map<string, Promise<unknown>>()
      const arrivals = new Map<string, () => void>()
      const serve = async (request: IncomingMessage, response: ServerResponse) => {
        const body = await bodyOf(request)
        const url = request.url ?? "/"
        const method = request.method ?? "GET"
        seen.push({ method, url, headers: request.headers, body })
        const path = pathOf(url)
        arrivals.get(path)?.()
        await held.get(path)
        const answer = await answerTo(
          state,
          { method, url: new URL(url, "http://api"), headers: request.headers, body },
          response
        )
        if (answer.written) return
        const text = answer.body === undefined ? undefined : JSON.stringify(answer.body)
        const type = answer.status >= 400 ? "application/problem+json" : "application/json"
        response.writeHead(answer.status, text === undefined ? {} : { "content-type": type }).end(text)
      }
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const it = createServer((request, response) => {
            serve(request, response).catch((error: unknown) => {
              response.writeHead(500, { "content-type": "text/plain" }).end(String(error))
            })
          })
          it.listen(0, "127.0.0.1", () => resume(Effect.succeed(it)))
        }),
        (it) =>
          Effect.callback<void>((resume) => {
            it.close(() => resume(Effect.void))
            it.closeAllConnections()
          })
      )
      const { port } = server.address() as AddressInfo // it listens on a port
      return ApiDouble.of({
        url: `http://127.0.0.1:${port}`,
        state,
        seen,
        held,
        arrival: (path) => new Promise((resolve) => arrivals.set(path, resolve)),
        last: (method, path) => seen.findLast((it) => it.method === method && pathOf(it.url) === path)
      })
    })
  )
}
