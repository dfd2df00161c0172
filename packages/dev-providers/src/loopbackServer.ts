/**
 * A plain HTTP server on loopback, for as long as the scope lasts.
 *
 * An issuer's URL contains its port, and the port for 0 is known only after binding, so the listener is created from the
 * URL when the server listens, before it accepts the first request.
 */
import { createServer, type RequestListener } from "node:http"
import { isIPv4 } from "node:net"
import { Effect, Schema } from "effect"

/** The server cannot listen on the port. */
export class PortUnavailable extends Schema.TaggedError<PortUnavailable>()("PortUnavailable", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Cannot listen on ${this.host}, port ${this.port}: ${this.reason}`
  }
}

/** Whether only this machine can reach the address. Names are refused: a resolver may return any address. */
export const isLoopback = (host: string) => (isIPv4(host) && host.startsWith("127.")) || host === "::1"

const reasonOf = (error: NodeJS.ErrnoException) =>
  error.code === "EADDRINUSE" ? "another process uses the port." : `${error.code ?? error.message}.`

/** Serves the listener that `listener` returns for the server's URL. Returns that URL. */
export const serveOnLoopback = Effect.fn("serveOnLoopback")(function* (
  host: string,
  port: number,
  listener: (url: string) => RequestListener
) {
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => createServer()),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  return yield* Effect.callback<string, PortUnavailable>((resume) => {
    server.once("error", (error) => resume(new PortUnavailable({ host, port, reason: reasonOf(error) })))
    server.once("listening", () => {
      const address = server.address()
      const bound = typeof address === "object" && address !== null ? address.port : port
      const url = `http://${host === "::1" ? "[::1]" : host}:${bound}`
      try {
        server.on("request", listener(url))
        resume(Effect.succeed(url))
      } catch (defect) {
        resume(Effect.die(defect)) // an exception in an event handler would end the process
      }
    })
    server.listen(port, host)
  })
})
