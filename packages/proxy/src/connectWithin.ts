/**
 * Connections of the proxy's own process, on behalf of a client whose address the process knows: the allowlist, the limits
 * and the audit refer to that client, as behind a load balancer.
 *
 * Connections enter by a listener on loopback, which the first of them opens. Each begins with a random token that this
 * process has just made, because every user of the machine can reach the listener.
 */
import { randomBytes } from "node:crypto"
import { type AddressInfo, createServer, type Server, Socket } from "node:net"
import { Effect, type Scope } from "effect"

/** Opens a connection for the client with this address. The socket fails if nothing can be listened on. */
export type ConnectWithin = (client: string) => Socket

const tokenLength = 32

/** How long a connection may take to send its token, in milliseconds. */
const tokenWithin = 5_000

const loopback = "127.0.0.1"

/** The port of the server, which listens from the first call on. A failure to listen is tried again by the next call. */
const portOf = (server: Server): (() => Promise<number>) => {
  let opened: Promise<number> | undefined
  return () => {
    opened ??= new Promise<number>((resolve, reject) => {
      server.once("error", (cause) => {
        opened = undefined
        reject(cause)
      })
      server.listen({ host: loopback, port: 0 }, () => {
        server.on("error", () => {})
        // `address()` is an `AddressInfo` for a TCP server that listens; it is a string only for pipes.
        resolve((server.address() as AddressInfo).port)
      })
    })
    return opened
  }
}

/** `serve` gets the paused socket, and whom it is for. */
export const connectingWithin = (
  serve: (socket: Socket, client: string) => void
): Effect.Effect<ConnectWithin, never, Scope.Scope> =>
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
    const port = portOf(server)
    yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))

    return (client) => {
      const token = randomBytes(tokenLength)
      expected.set(token.toString("hex"), client)
      const socket = new Socket().setNoDelay()
      socket.once("close", () => expected.delete(token.toString("hex")))
      // Bytes that the caller writes before there is a connection follow the token.
      socket.cork()
      socket.write(token)
      port().then(
        (number) => {
          if (socket.destroyed) return
          socket.connect({ host: loopback, port: number })
          socket.uncork()
        },
        (cause: Error) => socket.destroy(cause)
      )
      return socket
    }
  })
