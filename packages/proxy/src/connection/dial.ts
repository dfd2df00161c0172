/**
 * DIAL: one attempt to send a startup packet to a compute and to read the first message of its answer.
 *
 * It waits for the first message because 57P03 ("starting up", "shutting down") means the same as a missing compute:
 * the caller wakes again, and the client does not notice. Every other first message is relayed to the client.
 */
import { Data } from "effect"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { Cancel } from "../control-plane/Run.ts"
import { ByteQueue } from "../wire/ByteQueue.ts"
import { sqlstateOf } from "../wire/ErrorResponse.ts"
import { ComputeSocket, discard } from "./ComputeSocket.ts"

/** No compute answers at the address. */
export class ComputeGone extends Data.TaggedError("ComputeGone")<{ readonly reason: string }> {}

/** A connection, which has at most one socket to a compute and closes it when it ends. */
export interface Dialler {
  compute: ComputeSocket | undefined
}

export interface Dialled {
  readonly server: ComputeSocket
  /** The bytes that the compute has sent, from its first message. */
  readonly first: Buffer
}

/** Parses a compute address: an absolute path is a Unix socket, anything else is `host:port`. */
export const target = (address: string): { path: string } | { host: string; port: number } => {
  if (address.startsWith("/")) return { path: address }
  const colon = address.lastIndexOf(":")
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(address.slice(colon + 1)) }
}

/** Opens a socket to a compute on behalf of an admitted client. What is written is sent once it is connected. */
export const openSocket = (_admitted: Admitted, address: string): ComputeSocket =>
  new ComputeSocket({ ...target(address), allowHalfOpen: true, noDelay: true })

const largestError = 8_192

/** Takes the first message if it is an error, so that its SQLSTATE can be read; otherwise only its header. */
const takeFirst = (queue: ByteQueue): Buffer | undefined => {
  const head = queue.peek(5)
  if (head === undefined) return undefined
  if (head[0] !== 0x45) return queue.take(5)
  const size = 1 + head.readUInt32BE(1)
  return queue.take(size > largestError ? 5 : size)
}

const ignore = () => {}

/** How long a compute may take to accept a connection, and then to send its first message, in milliseconds. */
const [patience, silence] = [5_000, 10_000]

/**
 * Sends the startup packet. `done` gets `ComputeGone` if no compute answers, or if its answer is 57P03; otherwise what
 * the compute has said. What it says from then on goes to the `receive` that is set meanwhile.
 *
 * Pitfall: giving the session a function that is made here. It would keep alive what the functions here share, for as
 * long as the session: the packet and the queue.
 */
export const dial = (
  admitted: Admitted,
  address: string,
  startup: Buffer,
  dialler: Dialler,
  done: (outcome: Dialled | ComputeGone) => void
): Cancel => {
  const server = openSocket(admitted, address)
  const { socket } = server
  dialler.compute = server
  const queue = new ByteQueue()
  const settle = () => {
    clearTimeout(timer)
    server.receive = discard
    socket.off("close", onClose).off("end", onClose).off("error", onError)
    // An error event without a listener terminates the process.
    socket.on("error", ignore)
  }
  const cancel = () => {
    settle()
    socket.destroy()
    dialler.compute = undefined
  }
  const gone = (reason: string) => {
    cancel()
    done(new ComputeGone({ reason }))
  }
  const onConnect = () => {
    socket.write(startup)
    clearTimeout(timer)
    timer = setTimeout(gone, silence, "no message within 10 s")
  }
  const onError = (cause: NodeJS.ErrnoException) => gone(cause.code ?? cause.message)
  const onClose = () => gone("the compute closed the connection")
  server.receive = (bytes) => {
    queue.push(Buffer.from(bytes))
    const first = takeFirst(queue)
    if (first === undefined) return false
    if (sqlstateOf(first) === "57P03") gone("57P03")
    else {
      settle()
      done({ server, first: queue.length === 0 ? first : Buffer.concat([first, queue.rest()]) })
    }
    return false
  }
  let timer = setTimeout(gone, patience, "no connection within 5 s")
  socket.once("connect", onConnect).on("error", onError)
  socket.on("end", onClose).on("close", onClose)
  return cancel
}
