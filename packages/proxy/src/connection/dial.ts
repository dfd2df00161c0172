/**
 * DIAL: one attempt to send a startup packet to a compute and to read the first message of its answer.
 *
 * It waits for the first message because 57P03 ("starting up", "shutting down") means the same as a missing compute: the
 * caller wakes again, and the client does not notice. Every other first message is relayed to the client.
 */
import { connect, type Socket } from "node:net"
import { Data, Effect, type Scope } from "effect"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { ByteQueue } from "../wire/ByteQueue.ts"
import { sqlstateOf } from "../wire/ErrorResponse.ts"
import { SocketReader } from "./SocketReader.ts"

/** No compute answers at the address. */
export class ComputeGone extends Data.TaggedError("ComputeGone")<{ readonly reason: string }> {}

export interface Dialled {
  readonly socket: Socket
  /** The bytes that the compute has sent, from its first message. */
  readonly first: Buffer
}

/** Parses a compute address: an absolute path is a Unix socket, anything else is `host:port`. */
export const target = (address: string): { path: string } | { host: string; port: number } => {
  if (address.startsWith("/")) return { path: address }
  const colon = address.lastIndexOf(":")
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(address.slice(colon + 1)) }
}

/** Opens a socket to a compute on behalf of an admitted client. It is destroyed when the scope closes. */
export const openSocket = (_admitted: Admitted, address: string): Effect.Effect<Socket, ComputeGone, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Socket, ComputeGone>((resume) => {
      const socket = connect({ ...target(address), allowHalfOpen: true, noDelay: true })
      socket.on("error", (cause: NodeJS.ErrnoException) =>
        resume(new ComputeGone({ reason: cause.code ?? cause.message }))
      )
      socket.once("connect", () => resume(Effect.succeed(socket)))
      return Effect.sync(() => socket.destroy())
    }).pipe(
      Effect.timeoutOrElse({
        duration: "5 seconds",
        orElse: () => new ComputeGone({ reason: "no connection within 5 s" })
      })
    ),
    (socket) => Effect.sync(() => socket.destroy()),
    { interruptible: true }
  )

const largestError = 8_192

/** Takes the first message if it is an error, so that its SQLSTATE can be read; otherwise only its header. */
const takeFirst = (queue: ByteQueue): Buffer | undefined => {
  const head = queue.peek(5)
  if (head === undefined) return undefined
  if (head[0] !== 0x45) return queue.take(5)
  const size = 1 + head.readUInt32BE(1)
  return queue.take(size > largestError ? 5 : size)
}

/** Sends the startup packet; fails if no compute answers, or if its answer is 57P03. */
export const dial = (
  admitted: Admitted,
  address: string,
  startup: Buffer
): Effect.Effect<Dialled, ComputeGone, Scope.Scope> =>
  Effect.gen(function* () {
    const socket = yield* openSocket(admitted, address)
    const reader = new SocketReader(socket)
    socket.write(startup)
    const first = yield* reader.read(takeFirst).pipe(
      Effect.catchTag("Hangup", () => new ComputeGone({ reason: "the compute closed the connection" })),
      Effect.timeoutOrElse({
        duration: "10 seconds",
        orElse: () => new ComputeGone({ reason: "no message within 10 s" })
      }),
      Effect.onError(() => Effect.sync(() => socket.destroy()))
    )
    if (sqlstateOf(first) === "57P03") {
      socket.destroy()
      return yield* new ComputeGone({ reason: "57P03" })
    }
    return { socket, first: Buffer.concat([first, reader.detach()]) }
  })
