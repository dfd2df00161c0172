/** A real server of event streams: each connection is handed to the next step of a script. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export type Step = (response: ServerResponse, request: IncomingMessage) => void

export interface SseServer {
  readonly baseUrl: string
  readonly requests: Array<{ readonly url: string; readonly headers: IncomingMessage["headers"] }>
}

export const head: Readonly<Record<string, string>> = { "content-type": "text/event-stream; charset=utf-8" }

/** Writes frames and leaves the connection open. */
export const stays =
  (...frames: ReadonlyArray<string>): Step =>
  (response) => {
    response.writeHead(200, head)
    response.write(`: ok\n${frames.join("")}`)
  }

/** Writes frames and cuts the connection in the middle of the next one. */
export const drops =
  (...frames: ReadonlyArray<string>): Step =>
  (response) => {
    response.writeHead(200, head)
    response.write(`: ok\n${frames.join("")}id: 7ZZZZZZZZZZZZZZZZZZZZZZZZZ\nda`, () => response.destroy())
  }

/** Writes frames and ends. */
export const ends =
  (...frames: ReadonlyArray<string>): Step =>
  (response) => {
    response.writeHead(200, head)
    response.end(`: ok\n${frames.join("")}`)
  }

export const refuses =
  (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Step =>
  (response) => {
    response.writeHead(status, { "content-type": "application/problem+json", ...headers })
    response.end(
      JSON.stringify({ type: `urn:narthex:problem:${code}`, code, title: "No.", detail: `${code}!`, status })
    )
  }

/** The last step serves every further connection too. */
export const sseServer = (...steps: ReadonlyArray<Step>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: ReturnType<typeof createServer>; readonly served: SseServer }>((resume) => {
      const requests: SseServer["requests"] = []
      const server = createServer((request, response) => {
        const step = steps[Math.min(requests.length, steps.length - 1)]
        requests.push({ url: request.url ?? "", headers: request.headers })
        step?.(response, request)
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo // a TCP server, so never a path
        resume(Effect.succeed({ server, served: { baseUrl: `http://127.0.0.1:${port}`, requests } }))
      })
    }),
    ({ server }) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  ).pipe(Effect.map(({ served }) => served))

const ulid = (n: number) => `01K3Z6V9E8Q0X5M4C2B7${String(n).padStart(6, "0")}`

/** The n-th event of a made-up organization as a frame. */
export const frame = (n: number, type = "operation.updated.v1", data: object = { n }): string => {
  const id = ulid(n)
  const envelope = {
    id,
    type,
    source: type === "operation.updated.v1" ? "operations" : "_broker",
    org_id: "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10",
    region_id: "local",
    at: "2026-11-20T12:00:00.000Z",
    data
  }
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(envelope)}\n\n`
}

export const bookmark = (n: number): string => `id: ${ulid(n)}\n\n`

export const idOf = ulid
