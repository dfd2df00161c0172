/**
 * A small control plane on a real socket: the calls that the command line makes, with state, in shapes that the typed
 * client decodes. Of a login it verifies PKCE, the redirect and single use, as the server does.
 */
import { createHash, randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Envelope } from "@narthex/api"
import { Effect, Schema } from "effect"
import { AllowlistRoutes } from "./allowlistRoutes.ts"
import { keySecret } from "./keySecret.ts"
import {
  acme,
  at,
  branch,
  endpoint,
  type FakeKey,
  organization,
  project,
  record,
  shop,
  user,
  whoami
} from "./records.ts"
import { problem, type ReceivedRequest, type Reply } from "./replies.ts"

interface Grant {
  readonly challenge: string
  readonly redirect: string
  readonly name: string
}

export class ControlPlane {
  url = ""
  console: string | null = "http://console.test"
  /** While it is set, it answers every call instead of the routes. */
  instead: ((received: ReceivedRequest) => Reply | "silence" | undefined) | undefined
  latest: string | undefined
  /** Who invited the user into the organization of the key. */
  inviter: typeof user | null = null
  organization = acme
  readonly requests: Array<ReceivedRequest> = []
  readonly keys = new Map<string, FakeKey>()
  readonly projects: Array<{ readonly id: string; readonly name: string; readonly region: string }> = []
  readonly allowlist = new AllowlistRoutes(user, at)
  readonly #grants = new Map<string, Grant>()
  readonly #streams = new Set<ServerResponse>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  static readonly make = Effect.acquireRelease(
    Effect.promise(async () => {
      const plane = new ControlPlane()
      await new Promise<void>((resolve) => plane.#server.listen(0, "127.0.0.1", resolve))
      const address = plane.#server.address()
      if (address !== null && typeof address === "object") plane.url = `http://127.0.0.1:${address.port}`
      return plane
    }),
    (plane) => Effect.promise(() => plane.close())
  )

  async close() {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  addKey(name = "ci"): FakeKey {
    const id = `key-01hzx${randomBytes(11).toString("hex").slice(0, 21)}`
    const key: FakeKey = { id, name, secret: keySecret(), org: this.organization }
    this.keys.set(key.secret, key)
    return key
  }

  /** What the console does when the user clicks Authorize. */
  authorize(address: string): URL {
    const query = new URL(address).searchParams
    const code = randomBytes(32).toString("base64url")
    const redirect = query.get("redirect_uri") ?? ""
    this.#grants.set(code, { challenge: query.get("code_challenge") ?? "", redirect, name: query.get("name") ?? "" })
    const back = new URL(redirect)
    back.searchParams.set("code", code)
    back.searchParams.set("state", query.get("state") ?? "")
    return back
  }

  get streams(): number {
    return this.#streams.size
  }

  /** `more`: members that a newer server adds. */
  send(envelope: Envelope, more: object = {}) {
    const data = JSON.stringify({ ...Schema.encodeSync(Envelope)(envelope), ...more })
    for (const stream of this.#streams) stream.write(`id: ${envelope.id}\nevent: ${envelope.type}\ndata: ${data}\n\n`)
  }

  dropStreams() {
    for (const stream of this.#streams) stream.destroy()
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? "/", this.url)
    const received: ReceivedRequest = {
      method: request.method ?? "",
      path: url.pathname,
      query: url.searchParams,
      authorization: request.headers.authorization,
      userAgent: request.headers["user-agent"],
      lastEventId: [request.headers["last-event-id"]].flat()[0],
      idempotencyKey: [request.headers["idempotency-key"]].flat()[0]
    }
    this.requests.push(received)
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString("utf8")
    const reply = this.instead?.(received) ?? this.#route(received, text === "" ? {} : JSON.parse(text), response)
    if (reply === undefined || reply === "silence") return
    response.writeHead(reply.status, {
      "content-type": reply.status < 400 ? "application/json" : "application/problem+json",
      ...(this.latest === undefined ? {} : { "narthex-cli-latest": this.latest }),
      ...reply.headers
    })
    response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body))
  }

  #route(received: ReceivedRequest, body: Record<string, string>, response: ServerResponse): Reply | undefined {
    const call = `${received.method} ${received.path}`
    if (call === "GET /v1/auth/providers") return { status: 200, body: { providers: [], console_url: this.console } }
    if (call === "POST /v1/cli/exchange") return this.#exchange(body)
    const key = this.keys.get(received.authorization?.replace(/^Bearer /, "") ?? "")
    if (received.authorization === undefined) return problem("unauthenticated")
    if (key === undefined) return problem("invalid_token")
    switch (call) {
      case "GET /v1/auth/whoami":
        return { status: 200, body: { ...whoami(key), invited_by: this.inviter } }
      case "GET /v1/client-address":
        return { status: 200, body: { address: "198.51.100.7" } }
      case "GET /v1/orgs":
        return { status: 200, body: { organizations: [organization(key.org)], pagination: { next_cursor: null } } }
      case `GET /v1/orgs/${key.org}/usage`:
        return {
          status: 200,
          body: {
            usage: [
              { quota: "projects", held: 3, allowed: 100 },
              { quota: "disk_bytes", held: 1.5 * 1024 ** 3, allowed: 200 * 1024 ** 3 },
              { quota: "of_a_newer_server", held: 1, allowed: 2 }
            ]
          }
        }
      case "GET /v1/regions":
        return {
          status: 200,
          body: { regions: [{ region_id: "eu", name: "eu", default: true, geo_lat: 0, geo_long: 0 }] }
        }
      case "GET /v1/projects":
        return this.#listProjects(received)
      case "POST /v1/projects":
        return this.#createProject(body)
      case "GET /v1/api-keys/":
        return {
          status: 200,
          body: { api_keys: [...this.keys.values()].map(record), pagination: { next_cursor: null } }
        }
      case "POST /v1/api-keys/":
        return problem("session_required")
      case "DELETE /v1/api-keys/self":
        this.keys.delete(key.secret)
        return { status: 204 }
      case "GET /v1/events":
      case `GET /v1/projects/${shop}/events`:
        response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n")
        this.#streams.add(response)
        response.on("close", () => this.#streams.delete(response))
        return undefined
      default:
        if (received.method === "DELETE" && received.path.startsWith("/v1/api-keys/")) {
          if (!received.path.endsWith(`/${key.id}`)) return problem("key_self_only")
          this.keys.delete(key.secret)
          return { status: 204 }
        }
        return this.allowlist.route(received, body) ?? problem("not_found")
    }
  }

  #exchange({ code = "", code_verifier = "", redirect_uri = "" }: Record<string, string>): Reply {
    const grant = this.#grants.get(code)
    this.#grants.delete(code)
    const challenge = createHash("sha256").update(code_verifier).digest("base64url")
    if (grant === undefined || grant.challenge !== challenge || grant.redirect !== redirect_uri)
      return problem("invalid_code")
    const key = this.addKey(grant.name)
    return { status: 201, body: { api_key: record(key), secret: key.secret } }
  }

  #listProjects({ query }: ReceivedRequest): Reply {
    const limit = Math.min(2, Number(query.get("limit") ?? 200))
    const start = Number(query.get("cursor") ?? 0)
    const end = start + limit
    const next_cursor = end < this.projects.length ? String(end) : null
    return {
      status: 200,
      body: { projects: this.projects.slice(start, end).map(project), pagination: { next_cursor } }
    }
  }

  #createProject({ name = "", region }: Record<string, string>): Reply {
    if (region === undefined) return problem("region_required", { detail: "Name a region: eu, us." })
    const made = { id: `prj-01hzx${randomBytes(11).toString("hex").slice(0, 21)}`, name, region }
    this.projects.push(made)
    return {
      status: 201,
      body: { project: project(made), branch: branch(made.id), endpoint: endpoint(made.id), operations: [] }
    }
  }
}
