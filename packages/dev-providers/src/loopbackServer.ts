/**
 * A plain HTTP server on loopback, for as long as the scope lasts.
 *
 * An issuer's URL holds its port, and port 0 is only known once bound: so the listener is made from the URL, at the
 * moment the server listens and before it can take its first request.
 */
import { createServer, type RequestListener } from "node:http"
import { isIPv4 } from "node:net"
import { Effect, Schema } from "effect"

/** The port cannot be listened on. */
export class PortUnavailable extends Schema.TaggedError<PortUnavailable>()("PortUnavailable", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Cannot listen on ${this.host}, port ${this.port}: ${this.reason}`
  }
}

/** Is this an address that only this machine reaches? Names do not count: a resolver may answer anything. */
export const isLoopback = (host: string) => (isIPv4(host) && host.startsWith("127.")) || host === "::1"

const reasonOf = (error: NodeJS.ErrnoException) =>
  error.code === "EADDRINUSE" ? "the port is taken by another process." : `${error.code ?? error.message}.`

/** Serves what `listener` makes of the server's own URL, and answers that URL. */
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
        resume(Effect.die(defect)) // thrown in an event handler, it would end the process
      }
    })
    server.listen(port, host)
  })
})
