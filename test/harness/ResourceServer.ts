/**
 * The resources that test files share: one Postgres server, one Chromium, one build, one platform. Each is made when the
 * first test requests it and ends with the run, so that a run of one pure file starts nothing.
 *
 * Workers send requests over a Unix socket: `GET /postgres` returns JSON once the resource is ready, or 500 with the
 * reason why it cannot be made. `resource.ts` is the client.
 */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Makes a resource: its description for workers, and its cleanup. */
export type MakeResource = () => Promise<{ readonly description: unknown; readonly end: () => Promise<void> }>

export class ResourceServer {
  readonly socket: string
  readonly #server: Server
  readonly #made = new Map<string, ReturnType<MakeResource>>()
  readonly #directory: string
  readonly #makers: Readonly<Record<string, MakeResource>>

  private constructor(directory: string, makers: Readonly<Record<string, MakeResource>>) {
    this.#directory = directory
    this.#makers = makers
    this.socket = join(directory, "resources")
    this.#server = createServer((request, response) => {
      const name = request.url?.slice(1) ?? ""
      const answer = (status: number, body: unknown) => {
        response.writeHead(status, { "content-type": "application/json", connection: "close" })
        response.end(JSON.stringify(body))
      }
      this.resource(name).then(
        ({ description }) => answer(200, description),
        (error: unknown) => answer(500, { reason: error instanceof Error ? error.message : String(error) })
      )
    })
    // A build takes longer than Node's limit on a request.
    this.#server.requestTimeout = 0
  }

  static async start(makers: Readonly<Record<string, MakeResource>>): Promise<ResourceServer> {
    const server = new ResourceServer(await mkdtemp(join(tmpdir(), "narthex-resources-")), makers)
    server.#server.listen(server.socket)
    await once(server.#server, "listening")
    return server
  }

  /** Made once, however many ask; a failure is remembered too, so that every file fails for the same reason. */
  resource(name: string): ReturnType<MakeResource> {
    const made =
      this.#made.get(name) ??
      this.#makers[name]?.() ??
      Promise.reject(new Error(`There is no shared resource "${name}".`))
    this.#made.set(name, made)
    return made
  }

  /** Ends every resource that was made. Rejects if one of them could not be ended in order, when all have been tried. */
  async stop(): Promise<void> {
    this.#server.close()
    const made = await Promise.allSettled(this.#made.values())
    const ended = await Promise.allSettled(made.map((it) => (it.status === "fulfilled" ? it.value.end() : undefined)))
    await rm(this.#directory, { recursive: true, force: true })
    for (const end of ended) if (end.status === "rejected") throw end.reason
  }
}
