/**
 * Says in the log whom the allowlist turned away, once a minute for each address and endpoint: with `sslmode=prefer`
 * every refusal is two attempts, and a client that retries is thousands.
 */
import { Clock, Effect } from "effect"
import type { EndpointId, ProjectId } from "@narthex/core"
import { count } from "./metrics.ts"

export interface RefusedClient {
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId
  readonly client_address: string
}

const quiet = 60_000
const mostRemembered = 10_000

export class AuditTrail {
  readonly #saidAt = new Map<string, number>()

  refused(client: RefusedClient): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const key = `${client.endpoint_id} ${client.client_address}`
      const saidAt = this.#saidAt.get(key)
      if (saidAt !== undefined && now - saidAt < quiet) return count("allowlist_refused_again")
      // Deleted first, so that the map stays in the order in which things were said.
      this.#saidAt.delete(key)
      this.#saidAt.set(key, now)
      const [oldest] = this.#saidAt.keys()
      if (this.#saidAt.size > mostRemembered && oldest !== undefined) this.#saidAt.delete(oldest)
      return Effect.logWarning("the allowlist turned a client away").pipe(
        Effect.annotateLogs({ ...client }),
        Effect.andThen(count("allowlist_refused"))
      )
    })
  }
}
