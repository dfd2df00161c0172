/**
 * Connections of the proxy's own process, on behalf of a client whose address the process knows: the allowlist, the limits
 * and the audit refer to that client, as behind a load balancer.
 *
 * Connections enter by a listener on loopback. Each begins with a random token that this process has just made, because every
 * user of the machine can reach the listener.
 */
import { randomBytes } from "node:crypto"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { Effect, type Scope } from "effect"
import { CannotListen } from "./listen.ts"

/** Opens a connection for the client with this address. */
export type ConnectWithin = (client: string) => Socket

const tokenLength = 32

/** How long a connection may take to send its token, in milliseconds. */
const tokenWithin = 5_000

const loopback = "127.0.0.1"

const listening = (server: Server) =>
  Effect.callback<void, CannotListen>((resume) => {
    server.once("error", (cause) => resume(new CannotListen({ reason: cause.message })))
    server.listen({ host: loopback, port: 0 }, () => {
      server.on("error", () => {})
      resume(Effect.void)
    })
    return Effect.sync(() => server.close())
  })

/** `serve` gets the paused socket, and whom it is for. */
export const connectingWithin = (
  serve: (socket: Socket, client: string) => void
): Effect.Effect<ConnectWithin, CannotListen, Scope.Scope> =>
  Effect.gen(function* () {
    const expected = new Map<string, string>()

    const accept = (socket: Socket) => {
      const drop = () => socket.destroy()
      const timer = setTimeout(drop, tokenWithin)
      socket.on("error", drop)
      socket.once("close", () => clearTimeout(timer))
      const take = () => {
        const token: Buffer | null = socket.read(tokenLength)
        if (token === null) return
        clearTimeout(timer)
        socket.off("readable", take)
        const key = token.toString("hex")
        const client = expected.get(key)
        expected.delete(key)
        if (client === undefined) return drop()
        serve(socket, client)
      }
      socket.on("readable", take)
    }

    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, accept)
    yield* Effect.acquireRelease(listening(server), () => Effect.sync(() => void server.close()))
    // `address()` is an `AddressInfo` for a TCP server that listens; it is a string only for pipes.
    const { port } = server.address() as AddressInfo

    return (client) => {
      const token = randomBytes(tokenLength)
      expected.set(token.toString("hex"), client)
      const socket = connect({ host: loopback, port, noDelay: true })
      socket.once("close", () => expected.delete(token.toString("hex")))
      socket.write(token)
      return socket
    }
  })
