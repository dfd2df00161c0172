/**
 * RELAY and CUT: bytes from one socket to the other, on raw `node:net`, with pause and resume as backpressure.
 *
 * No fiber works per chunk: one callback resumes when both sides are closed. Message headers are walked on the way
 * for three things: the cancel key, whether the session is idle, and where a FATAL may be put. What one would get
 * wrong: idleness is not "the last ReadyForQuery said I" but that every query sent has had its ReadyForQuery; a client
 * may send two and wait for the second for an hour.
 */
import type { Socket } from "node:net"
import { Effect } from "effect"
import { MessageWalker } from "../wire/MessageWalker.ts"

export interface RelayEnds {
  readonly client: Socket
  readonly server: Socket
  /** What each side sent before the relay took over. */
  readonly fromClient: Buffer
  readonly fromServer: Buffer
  readonly onCancelKey: (key: Buffer) => void
  /** Milliseconds of the wall clock. */
  readonly now: () => number
}

const code = (letter: string) => letter.charCodeAt(0)
const [query, sync, functionCall] = [code("Q"), code("S"), code("F")]
const [backendKeyData, readyForQuery, copyInResponse] = [code("K"), code("Z"), code("G")]
const idleStatus = code("I")
const cutGrace = 2_000
const closeGrace = 5_000

export class Relay {
  readonly #ends: RelayEnds
  readonly #toServer: MessageWalker
  readonly #toClient: MessageWalker
  /** ReadyForQuery messages that are owed; the first one ends authentication. */
  #owed = 1
  #status = idleStatus
  #copyIn = false
  #lastActive: number
  #fatal: Buffer | undefined
  #fatalWhenIdle: Buffer | undefined
  #timer: NodeJS.Timeout | undefined
  #ended = false

  constructor(ends: RelayEnds) {
    this.#ends = ends
    this.#lastActive = ends.now()
    this.#toServer = new MessageWalker({ wants: () => false, message: (type) => this.#clientSaid(type) })
    this.#toClient = new MessageWalker({
      wants: (type) => type === readyForQuery || type === backendKeyData,
      message: (type, body) => this.#serverSaid(type, body)
    })
  }

  /** Relays until both sides are closed. */
  readonly run: Effect.Effect<void> = Effect.callback((resume) => {
    const { client, server } = this.#ends
    const open = new Set([client, server])
    // A side may say twice that it is closed: by its state, and by its event soon after.
    const closed = (side: Socket) => {
      this.#ended = true
      if (!open.delete(side) || open.size > 0) return
      clearTimeout(this.#timer)
      resume(Effect.void)
    }
    client.on("error", () => server.destroy()).on("drain", () => server.resume())
    server.on("error", () => this.#endClient()).on("drain", () => this.#fatal === undefined && client.resume())
    const clientEnded = () => server.end()
    const serverEnded = () => this.#endClient()
    const clientClosed = () => {
      // What the client sent last, a Terminate perhaps, still goes out; without its end there is nothing to finish.
      if (server.writableEnded) server.resume()
      else server.destroy()
      closed(client)
    }
    const serverClosed = () => {
      this.#endClient()
      closed(server)
    }
    client.once("end", clientEnded).once("close", clientClosed)
    server.once("end", serverEnded).once("close", serverClosed)
    // Cut before it began: the client has its FATAL, and nothing goes behind that.
    if (this.#fatal === undefined) {
      client.on("data", this.#fromClient)
      server.on("data", this.#fromServer)
      if (this.#ends.fromClient.length > 0) this.#fromClient(this.#ends.fromClient)
      this.#fromServer(this.#ends.fromServer)
    }
    // What happened before anybody listened does not happen again.
    if (client.readableEnded) clientEnded()
    if (server.readableEnded) serverEnded()
    if (client.closed) clientClosed()
    if (server.closed) serverClosed()
    if (!server.writableNeedDrain) client.resume()
    if (!client.writableNeedDrain) server.resume()
    return Effect.sync(() => {
      clearTimeout(this.#timer)
      client.destroy()
      server.destroy()
    })
  })

  /** Does the session hold a transaction, run something or authenticate? */
  get busy(): boolean {
    return this.#owed > 0 || this.#status !== idleStatus
  }

  /** When bytes last passed, in either direction. */
  get lastActive(): number {
    return this.#lastActive
  }

  /** Ends the session with a FATAL at the next message boundary; without one in two seconds, without a word. */
  cut(fatal: Buffer): void {
    if (this.#fatal !== undefined || this.#ended) return
    this.#fatal = fatal
    this.#ends.client.off("data", this.#fromClient)
    this.#ends.client.pause()
    this.#destroyAfter(cutGrace)
    if (this.#toClient.atBoundary) this.#finishCut(fatal)
  }

  /** Cuts once the session is idle, which may be now. */
  cutWhenIdle(fatal: Buffer): void {
    this.#fatalWhenIdle = fatal
    if (!this.busy) this.cut(fatal)
  }

  #finishCut(fatal: Buffer) {
    const { client, server } = this.#ends
    server.off("data", this.#fromServer)
    server.destroy()
    client.end(fatal)
    // Reading on to the end keeps the kernel from answering late bytes with a reset, which would lose the FATAL.
    client.on("data", () => {}).resume()
  }

  #destroyAfter(grace: number) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#ends.client.destroy()
      this.#ends.server.destroy()
    }, grace)
  }

  #endClient() {
    const { client } = this.#ends
    if (client.writableEnded) return
    client.end()
    client.resume()
    this.#destroyAfter(closeGrace)
  }

  readonly #fromClient = (chunk: Buffer) => {
    this.#lastActive = this.#ends.now()
    this.#toServer.walk(chunk)
    if (!this.#ends.server.writable) return
    if (!this.#ends.server.write(chunk)) this.#ends.client.pause()
  }

  readonly #fromServer = (chunk: Buffer) => {
    this.#lastActive = this.#ends.now()
    const { client, server } = this.#ends
    if (this.#fatal !== undefined) {
      const boundary = this.#toClient.walkToBoundary(chunk)
      client.write(boundary === -1 ? chunk : chunk.subarray(0, boundary))
      if (boundary !== -1) this.#finishCut(this.#fatal)
      return
    }
    this.#toClient.walk(chunk)
    if (!client.writable) return
    if (!client.write(chunk)) server.pause()
    if (this.#fatalWhenIdle !== undefined && !this.busy) this.cut(this.#fatalWhenIdle)
  }

  #clientSaid(type: number) {
    // During COPY IN the server throws Sync away, so no ReadyForQuery is owed for it.
    if (type === query || type === functionCall || (type === sync && !this.#copyIn)) this.#owed++
  }

  #serverSaid(type: number, body: Buffer) {
    if (type === readyForQuery) {
      this.#owed = Math.max(0, this.#owed - 1)
      this.#status = body[0] ?? idleStatus
      this.#copyIn = false
    } else if (type === backendKeyData) {
      // A copy: the chunk that it came in is large.
      this.#ends.onCancelKey(Buffer.from(body))
    } else if (type === copyInResponse) {
      this.#copyIn = true
      this.#owed = 1
    }
  }
}
