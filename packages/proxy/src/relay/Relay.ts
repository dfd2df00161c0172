/**
 * RELAY and CUT: copies bytes between two sockets, on raw `node:net`, with pause and resume as backpressure.
 *
 * No fiber runs: a callback tells when both sides are closed. Message headers are walked for two purposes: whether the session
 * is idle, and where a FATAL may be inserted.
 *
 * Pitfall: taking the last ReadyForQuery with status `I` for idleness. A client may send two queries and wait an hour
 * for the second one, or send a query with Flush in place of Sync, which has no ReadyForQuery. A session is idle only
 * if everything that it sent has had its ReadyForQuery.
 */
import type { Socket } from "node:net"
import { type ComputeSocket, discard } from "../compute/ComputeSocket.ts"
import { MessageWalker } from "../wire/MessageWalker.ts"

export interface RelayEnds {
  readonly client: Socket
  readonly server: ComputeSocket
  /** Bytes that the client sent before the relay. */
  readonly fromClient: Buffer
  /** The first bytes for the client: whole messages, up to and with the first ReadyForQuery. */
  readonly greeting: Buffer
  /** Called each time that an idle session gets busy. */
  readonly busy: () => void
  /** Called with the number of bytes of each chunk that goes to the compute or to the client. */
  readonly relayed: (to: "compute" | "client", bytes: number) => void
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

const code = (letter: string) => letter.charCodeAt(0)
const [query, sync, functionCall] = [code("Q"), code("S"), code("F")]
const [readyForQuery, copyInResponse] = [code("Z"), code("G")]
const idleStatus = code("I")
/** Messages of the extended protocol that begin a transaction, which a later Sync ends: Parse, Bind, Describe, Execute. */
const unsynced = new Set(["P", "B", "D", "E"].map(code))
const wantsNone = () => false
const wants = (type: number) => type === readyForQuery
/** How long a cut waits for a message boundary, in milliseconds. */
const cutGrace = 2_000
/** How long a client may keep its side open after the server has closed, in milliseconds. */
const closeGrace = 5_000

export class Relay {
  readonly #ends: Omit<RelayEnds, "fromClient" | "greeting">
  readonly #client: Socket
  readonly #server: Socket
  /** The bytes from before the relay began, until it begins. */
  #before: Pick<RelayEnds, "fromClient" | "greeting"> | undefined
  readonly #toServer: MessageWalker
  readonly #toClient: MessageWalker
  /** The number of outstanding ReadyForQuery messages, without that of the greeting. */
  #outstanding = 0
  #status = idleStatus
  /** Whether extended-protocol messages were sent after the last Sync. */
  #unsynced = false
  #copyIn = false
  #lastActive: number
  #fatal: Buffer | undefined
  #fatalWhenIdle: Buffer | undefined
  #timer: NodeJS.Timeout | undefined
  #ended = false
  #clientClosed = false
  #serverClosed = false

  constructor({ fromClient, greeting, ...ends }: RelayEnds) {
    this.#ends = ends
    this.#client = ends.client
    this.#server = ends.server.socket
    this.#before = { fromClient, greeting }
    this.#lastActive = ends.now()
    this.#toServer = new MessageWalker({ wants: wantsNone, message: (type) => this.#onClientMessage(type) })
    this.#toClient = new MessageWalker({ wants, message: (type, body) => this.#onServerMessage(type, body) })
  }

  /** Relays until both sides are closed, and calls `onEnd` then. */
  start(onEnd: () => void): void {
    const [client, server] = [this.#client, this.#server]
    const closed = () => {
      this.#ended = true
      if (!this.#clientClosed || !this.#serverClosed) return
      clearTimeout(this.#timer)
      onEnd()
    }
    client.on("error", () => server.destroy()).on("drain", () => server.resume())
    server.on("error", () => this.#endClient()).on("drain", () => this.#fatal === undefined && client.resume())
    const clientEnded = () => server.end()
    const serverEnded = () => this.#endClient()
    // A side may be reported twice: by its state below, and by its event later.
    const clientClosed = () => {
      if (this.#clientClosed) return
      this.#clientClosed = true
      // After the client has ended, its last bytes (a Terminate, for example) are still sent; otherwise it was aborted.
      if (server.writableEnded) server.resume()
      else server.destroy()
      closed()
    }
    const serverClosed = () => {
      if (this.#serverClosed) return
      this.#serverClosed = true
      this.#endClient()
      closed()
    }
    client.on("end", clientEnded).on("close", clientClosed)
    server.on("end", serverEnded).on("close", serverClosed)
    // After a cut before the start the client has its FATAL, after which no bytes may follow.
    if (this.#fatal === undefined) {
      client.on("data", this.#fromClient)
      this.#ends.server.receive = this.#fromServer
      this.#ends.server.expectsMore = () => this.busy
      const { fromClient, greeting } = this.#before ?? {}
      if (greeting !== undefined) this.#fromServer(greeting)
      if (fromClient !== undefined && fromClient.length > 0) this.#fromClient(fromClient)
    }
    this.#before = undefined
    // Events that occurred before the listeners were added are not emitted again.
    if (client.readableEnded) clientEnded()
    if (server.readableEnded) serverEnded()
    if (client.closed) clientClosed()
    if (server.closed) serverClosed()
    if (server.writableNeedDrain) client.pause()
    else client.resume()
    if (client.writableNeedDrain) server.pause()
    else if (server.isPaused()) server.resume()
  }

  /** Closes both sides without a word. */
  destroy(): void {
    this.#client.destroy()
    this.#server.destroy()
  }

  /** Whether the session is in a transaction or in a query. */
  get busy(): boolean {
    return this.#outstanding > 0 || this.#unsynced || this.#status !== idleStatus
  }

  /** When bytes last passed in either direction, in milliseconds of the clock. */
  get lastActive(): number {
    return this.#lastActive
  }

  /**
   * Ends the session with a FATAL at the next message boundary, or without a FATAL if there is no boundary within 2 s.
   */
  cut(fatal: Buffer): void {
    if (this.#fatal !== undefined || this.#ended) return
    this.#fatal = fatal
    this.#client.off("data", this.#fromClient)
    this.#client.pause()
    this.#destroyAfter(cutGrace)
    if (this.#toClient.atBoundary) this.#finishCut(fatal)
  }

  /** Cuts when the session becomes idle, which may be immediately. */
  cutWhenIdle(fatal: Buffer): void {
    this.#fatalWhenIdle = fatal
    if (!this.busy) this.cut(fatal)
  }

  #finishCut(fatal: Buffer) {
    const client = this.#client
    this.#ends.server.receive = discard
    this.#server.destroy()
    client.end(fatal)
    // Reads to the end: the kernel would answer unread bytes with a reset, which discards the FATAL.
    client.on("data", () => {}).resume()
  }

  #destroyAfter(grace: number) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.destroy(), grace)
  }

  #endClient() {
    const client = this.#client
    if (client.writableEnded) return
    client.end()
    client.resume()
    this.#destroyAfter(closeGrace)
  }

  readonly #fromClient = (chunk: Buffer) => {
    this.#lastActive = this.#ends.now()
    this.#ends.relayed("compute", chunk.length)
    this.#toServer.walk(chunk)
    if (!this.#server.writable) return
    if (!this.#server.write(chunk)) this.#client.pause()
  }

  /** Returns whether the bytes are kept: they are until the client's socket has written them. */
  readonly #fromServer = (chunk: Buffer): boolean => {
    this.#lastActive = this.#ends.now()
    this.#ends.relayed("client", chunk.length)
    const client = this.#client
    if (this.#fatal !== undefined) {
      const boundary = this.#toClient.walkToBoundary(chunk)
      client.write(boundary === -1 ? chunk : chunk.subarray(0, boundary))
      const kept = client.writableLength > 0
      if (boundary !== -1) this.#finishCut(this.#fatal)
      return kept
    }
    this.#toClient.walk(chunk)
    if (!client.writable) return false
    if (!client.write(chunk)) this.#server.pause()
    const kept = client.writableLength > 0
    if (this.#fatalWhenIdle !== undefined && !this.busy) this.cut(this.#fatalWhenIdle)
    return kept
  }

  #onClientMessage(type: number) {
    const idle = !this.busy
    if (unsynced.has(type)) this.#unsynced = true
    else if (type === query || type === functionCall || type === sync) {
      // COPY IN has its ReadyForQuery outstanding already, and the server ignores a Sync before its end.
      if (type !== sync || !this.#copyIn) this.#outstanding++
      this.#unsynced = false
    }
    if (idle && this.busy) this.#ends.busy()
  }

  #onServerMessage(type: number, body: Buffer) {
    if (type === readyForQuery) {
      this.#outstanding = Math.max(0, this.#outstanding - 1)
      this.#status = body[0] ?? idleStatus
      this.#copyIn = false
    } else if (type === copyInResponse) {
      this.#copyIn = true
      this.#outstanding = 1
    }
  }
}
