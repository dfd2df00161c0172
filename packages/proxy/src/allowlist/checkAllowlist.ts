/**
 * The allowlist check, the only code that makes an `Admitted` (docs/design/proxy.md P4).
 *
 * Waking, dialling and forwarding a cancel request take an `Admitted`. Its class is private to this module, so the
 * compiler rejects every path to them that does not pass the check.
 */
import type { EndpointId, ProjectId } from "@narthex/core"
import { Data, Result } from "effect"
import type { Address } from "../networks/Address.ts"
import { type Allowlist, covers } from "./Allowlist.ts"

class AdmittedClient {
  // A private name makes the class nominal: an object of the same shape is not assignable to it.
  readonly #peer: Address
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId

  constructor(endpoint_id: EndpointId, project_id: ProjectId, peer: Address) {
    this.endpoint_id = endpoint_id
    this.project_id = project_id
    this.#peer = peer
  }

  get peer(): Address {
    return this.#peer
  }

  get client_address(): string {
    return this.#peer.text
  }
}

/** Proof that the allowlist admitted this client to this endpoint, on the same connection. */
export type Admitted = AdmittedClient

/** A client that asks to be admitted to an endpoint. */
export interface Candidate {
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId
  readonly peer: Address
}

/** No rule covers the address. */
export class NotListed extends Data.TaggedClass("NotListed")<{ readonly peer: Address }> {}

/** The project has rules, and the last known list is older than `max_stale`. */
export class RulesTooOld extends Data.TaggedClass("RulesTooOld")<{ readonly project_id: ProjectId }> {}

/**
 * Checks a candidate at `now`, in milliseconds of the monotonic clock. An empty list admits every address, whatever its
 * age; a list with rules that is older than `maxStale` milliseconds admits none.
 */
export const checkAllowlist = (
  list: Allowlist,
  candidate: Candidate,
  now: number,
  maxStale: number
): Result.Result<Admitted, NotListed | RulesTooOld> => {
  if (list.restricted && now - list.requested_at > maxStale)
    return Result.fail(new RulesTooOld({ project_id: list.project_id }))
  return list.project_id === candidate.project_id && covers(list, candidate.peer, now)
    ? Result.succeed(new AdmittedClient(candidate.endpoint_id, candidate.project_id, candidate.peer))
    : Result.fail(new NotListed({ peer: candidate.peer }))
}
