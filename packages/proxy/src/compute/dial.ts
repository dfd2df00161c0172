/**
 * DIAL and LOG IN: one attempt to open a session at a compute.
 *
 * 57P03 ("starting up", "shutting down") means the same as a missing compute: the caller wakes again, and the client does not
 * notice. Every other error of the server is the client's answer.
 */
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { Cancel } from "../control-plane/Run.ts"
import { Refusal, ServerError } from "../outcomes/Refusal.ts"
import { ByteQueue } from "../wire/ByteQueue.ts"
import { sqlstateOf } from "../wire/ErrorResponse.ts"
import { type Message, takeMessage, typeOf } from "../wire/messages.ts"
import { type ComputeSocket, discard } from "./ComputeSocket.ts"
import { ComputeGone, connectCompute, type Dialler, type Reachable } from "./connectCompute.ts"

/** A session that is open at its compute and has not been used. */
export interface Opened {
  readonly server: ComputeSocket
  /** The first bytes for the client: the end of its own authentication, and the messages of the compute since then. */
  readonly greeting: Buffer
  /** The key with which the client may cancel, and that of the compute; `undefined` if the compute gives none. */
  readonly keys: { readonly client: Buffer; readonly compute: Buffer } | undefined
}

export type Greeted = Omit<Opened, "server">

/** How a session is opened: the startup packet for the compute, and the reactions to its answers. */
export interface Login {
  readonly startup: Buffer
  /** Takes a message of the compute. `undefined`: it has to say more. */
  readonly take: (message: Message, send: (bytes: Buffer) => void) => Greeted | Refusal | ServerError | undefined
  /** Whether the session may be tried again: the client has learned nothing of this attempt. */
  readonly repeatable: () => boolean
}

/** The longest message before the session begins, in bytes. */
const largest = 65_536
/** How long a compute may take to answer what it was sent, in milliseconds. */
const silence = 10_000
const errorResponse = typeOf("E")

const ignore = () => {}

/**
 * Connects and logs in. `done` gets the session; `ComputeGone` if no compute answers, or if it is not ready; or how the client is
 * refused. Not called after a cancel.
 *
 * Pitfall: giving the session a function that is made here. It would keep alive what the functions here share, for as
 * long as the session: packets and the queue.
 */
export const dial = (
  admitted: Admitted,
  compute: Reachable,
  login: Login,
  dialler: Dialler,
  done: (outcome: Opened | ComputeGone | Refusal | ServerError) => void
): Cancel => {
  let cancel: Cancel = connectCompute(admitted, compute, dialler, (connected) => {
    if (connected instanceof ComputeGone) done(connected)
    else cancel = logIn(connected, login, dialler, done)
  })
  return () => cancel()
}

const logIn = (
  server: ComputeSocket,
  login: Login,
  dialler: Dialler,
  done: (outcome: Opened | ComputeGone | Refusal | ServerError) => void
): Cancel => {
  const { socket } = server
  const queue = new ByteQueue()
  let timer: NodeJS.Timeout | undefined
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
  const end = (outcome: ComputeGone | Refusal | ServerError) => {
    cancel()
    done(outcome)
  }
  const gone = (reason: string) => end(new ComputeGone({ reason }))
  const onError = (cause: NodeJS.ErrnoException) => gone(cause.code ?? cause.message)
  const onClose = () => gone("the compute closed the connection")
  const send = (bytes: Buffer) => {
    clearTimeout(timer)
    timer = setTimeout(gone, silence, "no message within 10 s")
    socket.write(bytes)
  }
  const takeOne = (): boolean => {
    const message = takeMessage(queue, largest)
    if (message === undefined) return false
    clearTimeout(timer)
    if (message === "unreadable") gone("the server does not speak the protocol of Postgres")
    else if (message.type === errorResponse && sqlstateOf(message.whole) === "57P03" && login.repeatable())
      gone("57P03")
    else {
      const outcome = login.take(message, send)
      if (outcome === undefined) return true
      if (outcome instanceof Refusal || outcome instanceof ServerError) end(outcome)
      else {
        settle()
        const greeting = queue.length === 0 ? outcome.greeting : Buffer.concat([outcome.greeting, queue.rest()])
        done({ server, greeting, keys: outcome.keys })
      }
    }
    return false
  }
  server.receive = (bytes) => {
    queue.push(Buffer.from(bytes))
    while (takeOne());
    return false
  }
  socket.on("error", onError).on("end", onClose).on("close", onClose)
  send(login.startup)
  return cancel
}
