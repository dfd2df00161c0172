/** A server of the test on a free port of loopback, closed with the scope together with its connections. */
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** The URL of the server. */
export const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        // The server listens on no pipe, so its address has a port.
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed(`http://127.0.0.1:${port}`))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
