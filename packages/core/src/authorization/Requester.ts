/**
 * For whom a request uses the storage. Storage with few connections lets requesters take turns (docs/design/api.md A33).
 */
import { Context } from "effect"
import { machineOf } from "../limits/clientNetwork.ts"
import type { AnyCaller } from "./Principal.ts"

export interface RequesterFacts {
  /** A person, with all its organizations, or the address of a caller that is not known yet. */
  readonly party: string
  /** One of the sessions and API keys of the person. An address has one. */
  readonly credential: string
}

/** `null`: the platform's own work, and calls of a host, which take no turns. */
export const Requester = Context.Reference<RequesterFacts | null>("@narthex/core/authorization/Requester", {
  defaultValue: () => null
})

/**
 * The requester of a caller.
 *
 * Pitfall: the API key or the organization as the party. One person may have many of both, and each would have a turn.
 */
export const requesterOf = (caller: AnyCaller): RequesterFacts => ({
  party: caller.user.id,
  credential: caller.kind === "session" ? caller.session_id : caller.api_key_id
})

/** The requester of a request whose credential has not been verified; `null`: no address can be read. */
export const requesterAt = (address: string | null): RequesterFacts => {
  const machine = machineOf(address ?? "unknown")
  return { party: machine, credential: machine }
}
