/**
 * A server of HTTP/1 that ends its connections with their answers once it closes: answers say `connection: close`, and
 * idle connections are closed when nothing has arrived for a moment.
 *
 * Pitfall: closing a server of Node alone. It resets at once connections whose requests have arrived and were not read.
 * A connection with a request in flight stays open after its answer until the client or a timeout of seconds ends it.
 * Its client sends further requests, which the end of the process resets.
 */
import { Server, type ServerOptions, type ServerResponse } from "node:http"
import { type Socket, Server as SocketServer } from "node:net"

/**
 * Idle connections outlive those of a load balancer, some of which keep theirs for ten minutes; and a peer that left
 * without a word is noticed.
 *
 * Pitfall: the default of Node, 5 seconds. A request that a load balancer sends just then gets no answer.
 */
export const keptConnections = {
  keepAliveTimeout: 620_000,
  keepAlive: true,
  keepAliveInitialDelay: 30_000
} as const satisfies ServerOptions

/** Milliseconds without a request after which idle connections are closed. */
const quiet = 100

export class ClosingServer extends Server {
  /** The answers that are not complete. */
  readonly #answering = new Set<ServerResponse>()
  readonly #connections = new Set<Socket>()
  /** Connections without a request so far. Node does not count them as idle. */
  readonly #silent = new Set<Socket>()
  #requests = 0
  #closesIdle = false

  constructor(options: ServerOptions = {}) {
    super({ ...keptConnections, ...options })
    this.on("connection", (socket) => {
      this.#connections.add(socket)
      this.#silent.add(socket)
      socket.once("close", () => {
        this.#connections.delete(socket)
        this.#silent.delete(socket)
      })
    })
    this.on("request", ({ socket }, response) => {
      this.#requests += 1
      this.#silent.delete(socket)
      this.#answering.add(response)
      if (!this.listening) endAfter(response)
      response.once("close", () => {
        this.#answering.delete(response)
        if (this.#closesIdle) this.closeIdleConnections()
      })
    })
  }

  override close(callback?: (error?: Error) => void): this {
    for (const response of this.#answering) endAfter(response)
    if (this.#connections.size === 0) return super.close(callback)
    // Stops listening, and leaves connections as they are.
    SocketServer.prototype.close.call(this, callback)
    this.#closeIdleWhenQuiet()
    return this
  }

  #closeIdleWhenQuiet(): void {
    const before = this.#requests
    // Bytes that have arrived are read between the two, also when the process was busy until now.
    const look = () => setImmediate(() => (this.#requests === before ? this.#closeIdle() : this.#closeIdleWhenQuiet()))
    setTimeout(look, quiet)
  }

  #closeIdle(): void {
    this.#closesIdle = true
    for (const socket of this.#silent) socket.destroy()
    super.close()
  }
}

const endAfter = (response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader("connection", "close")
}
