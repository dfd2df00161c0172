/**
 * What a connection of a worker takes of the limits: it asks the parent, which counts for all workers.
 *
 * Without an answer in time the connection is refused as by a full proxy: more than the limit never gets in.
 */
import type { Claims, Entered, Entrant, Limit } from "../connection/Claims.ts"
import { type Cancel, nothing } from "../control-plane/Run.ts"
import type { Address } from "../networks/Address.ts"
import type { Inquiry } from "./Inquiry.ts"
import type { FromWorker, WorkerQuestions } from "./messages.ts"

/** How long the parent may take to count, and to find a place, in milliseconds: clients wait for one for 30 s. */
const [patience, placePatience] = [5_000, 35_000]

export class AskedClaims implements Claims {
  readonly #connection: number
  readonly #counted: boolean
  readonly #inquiry: Inquiry<WorkerQuestions>
  readonly #send: (message: FromWorker) => void
  readonly #onClose: () => void
  /** Cuts the session, from RELAY until the client has authenticated. */
  #evict: (() => void) | undefined
  #open = true

  /** `counted`: the parent has counted the handshake before it sent the connection. */
  constructor(
    connection: number,
    counted: boolean,
    inquiry: Inquiry<WorkerQuestions>,
    send: (message: FromWorker) => void,
    onClose: () => void
  ) {
    this.#connection = connection
    this.#counted = counted
    this.#inquiry = inquiry
    this.#send = send
    this.#onClose = onClose
  }

  handshake(peer: Address, done: (within: boolean) => void): Cancel {
    if (this.#counted) {
      done(true)
      return nothing
    }
    const asks = { connection: this.#connection, peer: peer.text }
    return this.#inquiry.ask("handshake", asks, patience, (counted) => done(counted === true))
  }

  enter({ endpoint_id, org_id, peer, user }: Entrant, done: (entered: Entered | Limit) => void): Cancel {
    const asks = { connection: this.#connection, endpoint_id, org_id: org_id ?? null, peer: peer.text, user }
    return this.#inquiry.ask("enter", asks, placePatience, (entered = "connections") => done(entered))
  }

  mayWake(done: (may: boolean) => void): Cancel {
    return this.#inquiry.ask("mayWake", { connection: this.#connection }, patience, (may) => done(may === true))
  }

  relayed(evict: () => void): void {
    this.#evict = evict
    this.#send({ _tag: "Relayed", connection: this.#connection })
  }

  evicted(): void {
    this.#evict?.()
  }

  authenticated(): void {
    this.#evict = undefined
    this.#send({ _tag: "Authenticated", connection: this.#connection })
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#onClose()
    this.#send({ _tag: "Closed", connection: this.#connection })
  }
}
