/**
 * A connection on its way to RELAY: its client, what it waits for, what it holds, and how it ends.
 *
 * The connection has no fiber. Each stage calls the next one, at once if there is nothing to wait for. A stage that
 * waits leaves the connection a function that ends the wait. Events from outside, such as a client that leaves, the
 * time limit or a drain, call `end`.
 */
import type { Socket } from "node:net"
import { Effect } from "effect"
import type { Dialler } from "../compute/connectCompute.ts"
import type { Cancel } from "../control-plane/Run.ts"
import type { HeldSlots } from "../limits/ConnectionLimiter.ts"
import { countIn } from "../outcomes/AuditTrail.ts"
import { Hangup, Refusal, ServerError } from "../outcomes/Refusal.ts"
import type { Opening } from "../relay/Connections.ts"
import { encodeFatal } from "../wire/ErrorResponse.ts"
import type { SharedState } from "./SharedState.ts"
import { SocketReader } from "./SocketReader.ts"

/** How long a client may take to close after its last bytes were sent, in milliseconds. */
const closeGrace = 1_000

const tooSlow = new Hangup({ event: "too_slow" })
const noRoom = new Hangup({ event: "limit_half_open" })
const left = new Hangup({ event: "client_left" })

export class OpeningConnection implements Opening, Dialler {
  readonly shared: SharedState
  readonly slots: HeldSlots
  /** The client. The socket and its reader are replaced when TLS begins. */
  socket: Socket
  reader: SocketReader
  /** Whether an ErrorResponse may be sent. Before the startup packet libpq hides or misreads it. */
  answerable = false
  /** The channel binding data of TLS. */
  binding: Buffer | undefined
  /** How the connection ends when its client has not proved itself in time. */
  late: Refusal | Hangup = tooSlow
  compute: Dialler["compute"]
  /** The socket that was accepted, which the one of TLS is over. */
  readonly accepted: Socket
  /** Ends the time limit of everything up to the proof. */
  readonly #inTime: Cancel
  /** Ends what the connection waits for. */
  #stop: Cancel | undefined
  #over = false
  #closed = false

  /** The connection counts as open from here. */
  constructor(shared: SharedState, socket: Socket, slots: HeldSlots) {
    this.shared = shared
    this.slots = slots
    this.socket = socket
    this.accepted = socket
    this.reader = new SocketReader(socket)
    shared.connections.opened()
    shared.connections.openings.add(this)
    this.#inTime = shared.deadlines.begin(() => this.end(this.late))
  }

  /** Waits, and goes on with `then` unless the connection has ended in between. */
  wait<A>(begin: (done: (value: A) => void) => Cancel, then: (value: A) => void): void {
    let arrived = false
    this.#guarded(() => {
      const stop = begin((value) => {
        if (arrived || this.#over) return
        arrived = true
        this.#stop = undefined
        this.#guarded(() => then(value))
      })
      if (arrived) return
      if (this.#over) stop()
      else this.#stop = stop
    })
  }

  /** A defect ends this connection only. */
  #guarded(work: () => void): void {
    try {
      work()
    } catch (defect) {
      this.defect(defect)
    }
  }

  defect(defect: unknown): void {
    this.#finish()
    this.#close()
    const { context } = this.shared
    countIn(context, "defect")
    Effect.runForkWith(context)(Effect.logError("a connection ended with a defect", defect))
  }

  /** Notices from here on that the client leaves, until the next read. `false`: it has left. */
  watch(): boolean {
    const there = this.reader.watch(() => this.end(left))
    if (!there) this.end(left)
    return there
  }

  /** Half-open connections make room for others. */
  readonly drop = (): void => this.end(noRoom)

  /** The client has proved itself: its connection is not half-open any more. */
  proved(): void {
    this.#inTime()
    this.slots.proved()
  }

  /** Ends the connection, with an answer if the client can read one. */
  end(why: Refusal | ServerError | Hangup): void {
    if (this.#over) return
    this.#finish()
    countIn(this.shared.context, why.event)
    if (why instanceof Refusal && this.answerable) this.#closeAfter(encodeFatal(why))
    else if (why instanceof ServerError) this.#closeAfter(why.bytes)
    else this.#close()
  }

  /** Ends the connection when its client has closed it. */
  leave(): void {
    if (this.#over) return
    this.#finish()
    this.#closeAfter(undefined)
  }

  /** Ends the connection without a word and without a reason: the process ends. */
  abandon(): void {
    if (this.#over) return
    this.#finish()
    this.#close()
  }

  /** RELAY begins: a session has what the connection held, and gives it back. */
  handOver(): void {
    this.#closed = true
    this.#forget()
  }

  #forget(): void {
    this.#over = true
    this.#inTime()
    this.shared.connections.openings.delete(this)
  }

  #finish(): void {
    this.#forget()
    this.#stop?.()
    this.#stop = undefined
    this.compute?.socket.destroy()
  }

  #close(): void {
    this.socket.destroy()
    this.accepted.destroy()
    if (this.#closed) return
    this.#closed = true
    this.slots.close()
    this.shared.connections.closed()
  }

  /**
   * Sends the last bytes and waits for the client to close, because closing with unread bytes would send a reset
   * instead.
   */
  #closeAfter(last: Buffer | undefined): void {
    const { reader, socket } = this
    reader.detach()
    if (socket.destroyed) {
      this.#close()
      return
    }
    const timer = setTimeout(() => this.#close(), closeGrace)
    socket.once("close", () => {
      clearTimeout(timer)
      this.#close()
    })
    socket.on("data", ignore).resume()
    if (last !== undefined) socket.write(last)
    socket.end()
  }
}

const ignore = () => {}
