/**
 * What the connections of one worker have of the limits, kept by the parent. A worker that ends gives all of it back.
 *
 * Pitfall: waiting for a worker to give back what it holds. One that was killed says nothing.
 */
import type { Claims } from "../connection/Claims.ts"
import { type Cancel, nothing } from "../control-plane/Run.ts"
import { parsePeer } from "../networks/Address.ts"
import type { Asked, FromParent, WorkerQuestions } from "./messages.ts"

interface Kept {
  readonly claims: Claims
  relayed: boolean
  /** Ends the wait for a place. */
  leave: Cancel
}

/** A question about the limits: every one but that for a cancel key. */
export type LimitQuestion = Exclude<Asked<WorkerQuestions>, { readonly about: "cancelTarget" }>

type Gets = WorkerQuestions[LimitQuestion["about"]]["gets"]

export class Ledger {
  readonly #kept = new Map<number, Kept>()
  readonly #send: (message: FromParent) => void
  #relayed = 0

  constructor(send: (message: FromParent) => void) {
    this.#send = send
  }

  /** The number of connections, and of those that are relayed. */
  get connections(): number {
    return this.#kept.size
  }

  get relayed(): number {
    return this.#relayed
  }

  add(connection: number, claims: Claims): void {
    this.#kept.set(connection, { claims, relayed: false, leave: nothing })
  }

  /** Answers a question about a connection. One that has ended in between gets nothing. */
  asked(asked: LimitQuestion): void {
    const kept = this.#kept.get(asked.asks.connection)
    if (kept === undefined) return
    const answered = (answer: Gets) => this.#send({ _tag: "Answered", question: asked.question, answer })
    const { claims } = kept
    if (asked.about === "mayWake") {
      claims.mayWake(answered)
      return
    }
    const peer = parsePeer(asked.asks.peer)
    if (peer === undefined) return
    if (asked.about === "handshake") {
      claims.handshake(peer, answered)
      return
    }
    const { endpoint_id, org_id, user } = asked.asks
    kept.leave = claims.enter({ endpoint_id, org_id: org_id ?? undefined, peer, user }, answered)
  }

  isRelayed(connection: number): void {
    const kept = this.#kept.get(connection)
    if (kept === undefined || kept.relayed) return
    kept.relayed = true
    this.#relayed++
    kept.claims.relayed(() => this.#send({ _tag: "Evicted", connection }))
  }

  isAuthenticated(connection: number): void {
    this.#kept.get(connection)?.claims.authenticated()
  }

  isClosed(connection: number): void {
    const kept = this.#kept.get(connection)
    if (kept === undefined) return
    this.#kept.delete(connection)
    if (kept.relayed) this.#relayed--
    kept.leave()
    kept.claims.close()
  }

  /** The worker has ended. */
  end(): void {
    for (const connection of [...this.#kept.keys()]) this.isClosed(connection)
  }
}
