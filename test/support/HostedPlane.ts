/**
 * A control plane in memory behind a listener, as a host mounts it. The listener keeps what it is asked, and a test can
 * answer a call in place of the control plane: with what no call leads to, such as an answer of another version.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import { Effect } from "effect"
import {
  type ControlPlane,
  type ControlPlaneOptions,
  createControlPlane,
  type ProblemCode,
  problemCatalog
} from "narthex"

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

type Answer = Response | "silence" | undefined

export const problem = (code: ProblemCode, detail?: string): Response => {
  const { status, title } = problemCatalog[code]
  const members = { type: `urn:narthex:problem:${code}`, title, status, code, request_id: "req_test" }
  const body = detail === undefined ? members : { ...members, detail }
  return Response.json(body, { status, headers: { "content-type": "application/problem+json" } })
}

/** An event stream that sends this text and stays open. */
export const streaming = (text: string): Response => {
  const body = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(text)) })
  return new Response(body, { headers: { "content-type": "text/event-stream" } })
}

export class HostedPlane {
  url = ""
  /** The answer to a call in place of the control plane's; `undefined`: the control plane answers. */
  instead: ((asked: Asked) => Answer | Promise<Answer>) | undefined
  readonly requests: Array<Asked> = []
  readonly product: ControlPlane
  readonly #streams = new Set<ServerResponse>()
  readonly #server = createServer((request, response) => {
    // A client that is gone, and a control plane that has ended, leave a connection without an answer.
    this.#serve(request, response).catch(() => response.destroy())
  })

  private constructor(product: ControlPlane) {
    this.product = product
  }

  static readonly make = (options: ControlPlaneOptions = {}) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const host = new HostedPlane(await createControlPlane({ log: "off", limits: null, grace: 0, ...options }))
        await new Promise<void>((resolve) => host.#server.listen(0, "127.0.0.1", resolve))
        const address = host.#server.address()
        if (address !== null && typeof address === "object") host.url = `http://127.0.0.1:${address.port}`
        return host
      }),
      (host) => Effect.promise(() => host.close())
    )

  async close() {
    this.#server.closeAllConnections()
    this.#server.close()
    await this.product.close()
  }

  /** How many event streams are open. */
  get streams(): number {
    return this.#streams.size
  }

  dropStreams() {
    for (const stream of this.#streams) stream.destroy()
  }

  /** Ends each stream as a server does that shuts down. */
  endStreams() {
    for (const stream of this.#streams) stream.end()
  }

  /** Changes the answers to this path, which are JSON, until `instead` is set again. */
  edit<A>(path: string, change: (body: A) => unknown) {
    this.instead = async (asked) => {
      if (asked.path !== path) return undefined
      const answer = await this.ask(asked)
      return answer.ok ? Response.json(change(await answer.json()), { status: answer.status }) : answer
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? "/", this.url)
    const { headers, method = "" } = request
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const asked = { method, path: url.pathname, query: url.searchParams, headers, body }
    this.requests.push(asked)
    const gone = new AbortController()
    response.once("close", () => gone.abort())
    const answer: Answer = (await this.instead?.(asked)) ?? (await this.ask(asked, gone.signal))
    if (answer === "silence") return
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).flushHeaders()
    if (answer.headers.get("content-type")?.startsWith("text/event-stream")) {
      this.#streams.add(response)
      response.once("close", () => this.#streams.delete(response))
    }
    for await (const chunk of answer.body ?? []) response.write(chunk)
    response.end()
  }

  /** The control plane's own answer. */
  ask({ body, headers, method, path, query }: Asked, signal?: AbortSignal): Promise<Response> {
    const url = new URL(`${path}?${query}`, this.url)
    const given = Object.entries(headers).map(([name, value]): [string, string] => [name, [value].flat().join(", ")])
    return this.product.fetch(
      new Request(url, { method, headers: given, signal: signal ?? null, ...(body === "" ? {} : { body }) })
    )
  }
}
