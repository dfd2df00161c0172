/** A worker as its parent sees it: a process, what its connections have of the limits, and the socket on its way to it. */
import type { ChildProcess } from "node:child_process"
import type { Socket } from "node:net"
import { Deferred, Exit } from "effect"
import type { Claims } from "../connection/Claims.ts"
import type { Address } from "../networks/Address.ts"
import { Inquiry } from "./Inquiry.ts"
import { Ledger } from "./Ledger.ts"
import type {
  Answered,
  Asked,
  FromParent,
  FromWorker,
  ParentQuestions,
  WorkerConfig,
  WorkerQuestions
} from "./messages.ts"

/** An accepted connection on its way to a worker. */
export interface Arrival {
  readonly connection: number
  readonly socket: Socket
  /** The remote address. */
  readonly from: Address
  readonly claims: Claims
  /** Whether the handshake has been counted. */
  readonly counted: boolean
  /** Ends the time limit of its wait for a worker. */
  readonly waited: () => void
}

/** What a worker tells its pool. */
export interface WorkerEvents {
  /** It may take a connection: it is ready, or has taken one. */
  readonly free: () => void
  /** The socket did not reach it. */
  readonly returned: (arrival: Arrival) => void
  readonly cancelTarget: (worker: Worker, key: string, answer: (answer: Answered["answer"]) => void) => void
  readonly ended: (worker: Worker) => void
  /** Calls `late` after the time that a worker may take for a socket, unless the returned function was called before. */
  readonly limit: (late: () => void) => () => void
}

export class Worker {
  readonly inquiry: Inquiry<ParentQuestions>
  /** `true` when it serves connections, `false` when it has ended before. */
  readonly started = Deferred.makeUnsafe<boolean>()
  readonly ended = Deferred.makeUnsafe<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>()
  /** The last answer to a question for its metrics. */
  metrics = ""
  readonly #child: ChildProcess
  readonly #ledger: Ledger
  readonly #events: WorkerEvents
  #ready = false
  #over = false
  #arriving: Arrival | undefined
  #inTime: () => void = ignore

  constructor(
    child: ChildProcess,
    start: { readonly config: WorkerConfig; readonly setup: unknown },
    events: WorkerEvents
  ) {
    this.#child = child
    this.#events = events
    this.inquiry = new Inquiry((asked) => this.send(asked))
    this.#ledger = new Ledger((message) => this.send(message))
    // Its other end is `workers/serveAsWorker.ts`, which sends nothing else.
    child.on("message", (message) => this.#receive(message as FromWorker))
    // An error event without a listener terminates the process. `close` follows, or the process never began.
    child.on("error", () => child.pid === undefined && this.#end(null, null))
    // Not at its `exit`, after which messages of it may still come.
    child.once("close", (code, signal) => this.#end(code, signal))
    this.send({ _tag: "Start", ...start })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get ready(): boolean {
    return this.#ready
  }

  /** Whether a connection may be handed over: one at a time, so that none waits at a worker that does not react. */
  get isFree(): boolean {
    return this.#ready && this.#arriving === undefined
  }

  get connections(): number {
    return this.#ledger.connections
  }

  get relayed(): number {
    return this.#ledger.relayed
  }

  send(message: FromParent): void {
    if (this.#child.connected) this.#child.send(message, ignore)
  }

  /**
   * Hands a connection over. The socket stays open here until the worker has it, so that it is not lost on its way. A worker
   * that does not take it in time does not react, so that its sessions do not go on either: it is killed.
   */
  hand(arrival: Arrival): void {
    this.#arriving = arrival
    this.#inTime = this.#events.limit(() => this.kill())
    const { connection, counted, socket } = arrival
    if (this.#child.connected)
      this.#child.send({ _tag: "Connection", connection, counted }, socket, { keepOpen: true }, ignore)
  }

  kill(): void {
    this.#child.kill("SIGKILL")
  }

  #receive(message: FromWorker): void {
    switch (message._tag) {
      case "Ready":
        this.#ready = true
        Deferred.doneUnsafe(this.started, Exit.succeed(true))
        this.#events.free()
        break
      case "Taken":
        this.#taken()
        break
      case "Relayed":
        this.#ledger.isRelayed(message.connection)
        break
      case "Authenticated":
        this.#ledger.isAuthenticated(message.connection)
        break
      case "Closed":
        this.#ledger.isClosed(message.connection)
        break
      case "Answered":
        this.inquiry.answered(message)
        break
      case "Asked":
        this.#asked(message)
    }
  }

  #asked(message: Asked<WorkerQuestions>): void {
    if (message.about !== "cancelTarget") {
      this.#ledger.asked(message)
      return
    }
    const { question } = message
    const answered = (answer: unknown) => this.send({ _tag: "Answered", question, answer })
    this.#events.cancelTarget(this, message.asks.key, answered)
  }

  #taken(): void {
    const arrived = this.#arriving
    if (arrived === undefined) return
    this.#inTime()
    this.#arriving = undefined
    this.#ledger.add(arrived.connection, arrived.claims)
    arrived.socket.destroy()
    this.#events.free()
  }

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return
    this.#over = true
    this.#ready = false
    this.#inTime()
    this.#ledger.end()
    this.inquiry.end()
    if (this.#arriving !== undefined) this.#events.returned(this.#arriving)
    this.#arriving = undefined
    Deferred.doneUnsafe(this.started, Exit.succeed(false))
    Deferred.doneUnsafe(this.ended, Exit.succeed({ code, signal }))
    this.#events.ended(this)
  }
}

const ignore = () => {}
