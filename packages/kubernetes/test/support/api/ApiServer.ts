/** The double of the API server: HTTPS on loopback, with a certificate of its own authority. */

import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { ApiFailure } from "./ApiFailure.ts"
import { admission } from "./admission.ts"
import { type Call, callOf } from "./calls.ts"
import { discovered } from "./discovery.ts"
import { Faults } from "./Faults.ts"
import type { Json } from "./json.ts"
import type { ObjectStore } from "./ObjectStore.ts"
import { type Answer, Pages, perform } from "./perform.ts"
import { nameOf } from "./resources.ts"
import { Watches } from "./Watches.ts"

export interface Credentials {
  readonly cert: string
  readonly key: string
  /** The authority of the server, and of the certificates of its clients. */
  readonly ca: string
  readonly token: string
}

/** Milliseconds after which the server closes a connection that is not used. */
const idle = 90_000

const user = "system:serviceaccount:narthex:narthex-runner"

export class ApiServer {
  readonly store: ObjectStore
  readonly faults = new Faults()
  readonly watches: Watches
  readonly #pages = new Pages()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Tokens that are accepted; the one of a pod changes while it runs. */
  readonly tokens: Set<string>

  constructor(store: ObjectStore, { ca, cert, key, token }: Credentials) {
    this.store = store
    this.watches = new Watches(store)
    this.tokens = new Set([token])
    this.#server = createServer(
      { cert, key, ca, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        void this.#serve(request, response)
      }
    )
    this.#server.keepAliveTimeout = idle
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once("close", () => this.#sockets.delete(socket))
    })
  }

  async listen(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.listen(0, "127.0.0.1", resolve)
    await promise
    return this.url
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`
  }

  get #port(): number {
    const address = this.#server.address()
    return isAddress(address) ? address.port : 0
  }

  async close(): Promise<void> {
    this.watches.close()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.dropConnections()
    await promise
  }

  /** Closes every connection, watches included. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Continue tokens and versions up to now are too old. */
  compact(): void {
    this.store.compact()
    this.#pages.expire()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined)
    try {
      const answer = await this.#answer(request, response)
      if (answer === "lost") request.socket.destroy()
      else if (answer !== undefined) reply(response, answer)
    } catch (cause) {
      if (response.headersSent) return void request.socket.destroy()
      const failure = cause instanceof ApiFailure ? cause : new ApiFailure(500, "InternalError", String(cause))
      reply(response, { status: failure.code, body: failure.status })
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<Answer | "lost" | undefined> {
    if (!this.#isKnown(request)) throw new ApiFailure(401, "Unauthorized", "Unauthorized")
    const { faults } = this
    const path = new URL(request.url ?? "/", this.url).pathname
    const found = discovered(path.replace(/\/$/, ""), (resource) => faults.isServed(resource))
    if (found !== undefined && request.method === "GET") return { status: 200, body: found }
    if (path === "/apis/authentication.k8s.io/v1/selfsubjectreviews")
      return { status: 201, body: { kind: "SelfSubjectReview", status: { userInfo: { username: user } } } }
    const call = await callOf(request, (resource) => faults.isServed(resource))
    if (call === undefined) return { status: 404, body: null }
    faults.calls.push(call)
    const met = await faults.meet("before", call)
    if (met !== undefined) return met
    this.#authorize(call)
    if (call.verb === "watch") {
      this.watches.open(call, response)
      return undefined
    }
    const permits = (asked: { verb: string; resource: string }) => faults.permits(asked)
    const answer = perform({ store: this.store, admission, pages: this.#pages, permits }, call)
    return (await faults.meet("after", call)) ?? answer
  }

  #authorize({ name, namespace, resource, verb }: Call): void {
    if (this.faults.permits({ verb, resource: nameOf(resource) })) return
    const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`
    throw new ApiFailure(
      403,
      "Forbidden",
      `${nameOf(resource)} ${name === "" ? "" : `"${name}" `}is forbidden: User "${user}" cannot ${verb} resource "${resource.plural}" in API group "${resource.group}" ${where}`
    )
  }

  #isKnown({ headers, socket }: IncomingMessage): boolean {
    const [, token] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? []
    return (token !== undefined && this.tokens.has(token)) || (socket instanceof TLSSocket && socket.authorized)
  }
}

const isAddress = (address: AddressInfo | string | null): address is AddressInfo =>
  typeof address === "object" && address !== null

/** A path without a resource gets no object, as the server answers it. */
const reply = (response: ServerResponse, { body, headers, status }: Answer): void => {
  const [type, text]: readonly [string, string] =
    body === null ? ["text/plain; charset=utf-8", "404 page not found\n"] : ["application/json", textOf(body)]
  response.writeHead(status, { "content-type": type, ...headers }).end(text)
}

const textOf = (body: Json) => JSON.stringify(body)
