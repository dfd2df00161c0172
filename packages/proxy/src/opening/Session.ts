/**
 * A connection in RELAY: what it holds, what may cut it, and what its compute says that others need to know. A session
 * ends once, when both of its sides are closed, and then releases everything.
 *
 * Pitfall: a reference to what opened the connection. It would live as long as the session, and with it packets and
 * parameters.
 */
import type { Socket } from "node:net"
import type { RunningCompute } from "@narthex/api"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { Reached } from "../compute/Computes.ts"
import type { Reported } from "../control-plane/ActivityReports.ts"
import type { HeldSlots } from "../limits/ConnectionLimiter.ts"
import { addRelayed } from "../outcomes/AuditTrail.ts"
import { cuts, noLongerListed, type Refusal } from "../outcomes/Refusal.ts"
import { Relay } from "../relay/Relay.ts"
import { encodeFatal } from "../wire/ErrorResponse.ts"
import type { OpeningConnection } from "./OpeningConnection.ts"
import type { SharedState } from "./SharedState.ts"

/** Takes over what the connection holds. `asked_at` is that of the answer about its endpoint. */
export const beginSession = (client: OpeningConnection, reached: Reached, asked_at: number): void => {
  const { metrics } = client.shared
  const session = new Session(client, reached)
  const relay = new Relay({
    client: client.socket,
    server: reached.server,
    fromClient: client.reader.detach(),
    greeting: reached.greeting,
    busy: () => session.busy(),
    relayed: (to, bytes) => metrics.relayed(to, bytes),
    now: client.shared.now
  })
  session.watch(relay, reached.keys, asked_at)
  client.handOver()
  relay.start(() => session.end())
}

class Session {
  readonly #shared: SharedState
  readonly #slots: HeldSlots
  readonly #admitted: Admitted
  readonly #compute: RunningCompute
  /** The socket that was accepted, and that of TLS over it. */
  readonly #client: Socket
  readonly #accepted: Socket
  /** Functions that undo the steps of the session, in reverse order. */
  readonly #releases: Array<() => void> = []
  #relay: Relay | undefined
  #reported: Reported | undefined

  constructor({ accepted, slots, shared, socket }: OpeningConnection, { admitted, compute }: Reached) {
    this.#shared = shared
    this.#slots = slots
    this.#admitted = admitted
    this.#compute = compute
    this.#client = socket
    this.#accepted = accepted
  }

  /** From here the session is counted and reported, can be cancelled, and is cut when it may not go on. */
  watch(relay: Relay, keys: Reached["keys"], asked_at: number): void {
    const { activity, allowlists, cancelKeys, connections, context, endpoints } = this.#shared
    const { address, generation, tls = null } = this.#compute
    const { client_address, endpoint_id, project_id } = this.#admitted
    const cut = (why: Refusal) => relay.cut(encodeFatal(why))
    this.#relay = relay
    connections.relays.add(relay)
    addRelayed(context, 1)
    // Watching begins before the first byte is relayed, so a change since the check cuts immediately.
    this.#releases.push(
      allowlists.watch(this.#admitted, () => cut(noLongerListed(client_address, project_id))),
      endpoints.watch({ endpoint_id, generation, asked_at }, (why) => cut(cuts[why]))
    )
    if (keys !== undefined) {
      const target = { endpoint_id, project_id, compute: { address, tls }, key: keys.compute }
      this.#releases.push(cancelKeys.add(keys.client, target))
    }
    this.#reported = activity.open(endpoint_id, generation, relay)
    this.#releases.push(this.#reported.close)
    if (connections.draining !== undefined) relay.cutWhenIdle(encodeFatal(cuts.drain))
  }

  busy(): void {
    this.#reported?.busy()
  }

  end(): void {
    for (let last = this.#releases.pop(); last !== undefined; last = this.#releases.pop()) last()
    const { connections, context } = this.#shared
    addRelayed(context, -1)
    if (this.#relay !== undefined) connections.relays.delete(this.#relay)
    this.#slots.close()
    connections.closed()
    this.#client.destroy()
    this.#accepted.destroy()
  }
}
