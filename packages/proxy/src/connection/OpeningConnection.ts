/**
 * A connection on its way to RELAY: its client, what it holds, and how it ends from outside.
 *
 * One fiber opens a connection and ends with it: a session is relayed without one. What ends an opening from outside,
 * as a client that leaves, the time limit or a drain, calls `end`, which records the reason and interrupts the fiber. A
 * race of effects for each of them would take several fibers more.
 */
import type { Socket } from "node:net"
import type { Hangup, Refusal } from "../outcomes/Refusal.ts"
import type { Opening } from "./Connections.ts"
import { Held } from "./Held.ts"
import type { Client } from "./handshake.ts"
import { SocketReader } from "./SocketReader.ts"

/** How long a client may take to close after its last bytes were sent, in milliseconds. */
const closeGrace = 1_000

export class OpeningConnection implements Client, Opening {
  socket: Socket
  reader: SocketReader
  answerable = false
  readonly held = new Held()
  /** Why the opening ends, if that was decided from outside. */
  ending: Refusal | Hangup | undefined
  #interrupt: (() => void) | undefined

  constructor(socket: Socket, interrupt: () => void) {
    this.socket = socket
    this.reader = new SocketReader(socket)
    this.#interrupt = interrupt
    this.held.hold(() => {
      this.socket.destroy()
      socket.destroy()
    })
  }

  readonly end = (why: Refusal | Hangup): void => {
    if (this.ending !== undefined) return
    this.ending = why
    this.#interrupt?.()
  }

  /** The fiber has done its work. It is not kept for as long as the session. */
  forget(): void {
    this.#interrupt = undefined
  }
}

/**
 * Sends the last bytes and waits for the client to close, because closing with unread bytes would send a reset instead.
 * Then releases what the connection holds.
 */
export const close = ({ held, reader, socket }: OpeningConnection, last: Buffer | undefined): void => {
  reader.detach()
  if (socket.destroyed) {
    held.release()
    return
  }
  const timer = setTimeout(() => held.release(), closeGrace)
  socket.once("close", () => {
    clearTimeout(timer)
    held.release()
  })
  socket.on("data", ignore).resume()
  if (last !== undefined) socket.write(last)
  socket.end()
}

const ignore = () => {}
