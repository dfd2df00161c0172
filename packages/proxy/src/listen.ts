/** The listener of a proxy. */
import { createServer, type Server, type Socket } from "node:net"
import { Data, Effect } from "effect"
import type { ProxyConfig } from "./ProxyConfig.ts"

/** The configured address cannot be listened on. */
export class CannotListen extends Data.TaggedError("CannotListen")<{ readonly reason: string }> {
  override get message() {
    return `The proxy cannot listen: ${this.reason}`
  }
}

/** Listens until the scope closes. Sockets are paused: no byte has been read. */
export const listen = (config: ProxyConfig, onConnection: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<Server, CannotListen>((resume) => {
      const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, onConnection)
      server.once("error", (cause) => resume(new CannotListen({ reason: cause.message })))
      const { host, port, reuse_port = false } = config
      server.listen({ host, port, backlog: 4_096, reusePort: reuse_port }, () => {
        server.on("error", () => {})
        resume(Effect.succeed(server))
      })
      return Effect.sync(() => server.close())
    }),
    (server) => Effect.sync(() => server.close())
  )
