/**
 * The allowlist check, and the only place in the world that makes an `Admitted`.
 *
 * Waking, dialling and forwarding a cancel take an `Admitted`; its class stays in this file, so that the compiler
 * refuses every path to them that does not come through here.
 */
import { Data, Result } from "effect"
import type { EndpointId, ProjectId } from "@narthex/core"
import type { Address } from "../networks/Address.ts"
import { type Allowlist, covers } from "./Allowlist.ts"

class AdmittedClient {
  // A private name makes the class nominal: an object literal of the same shape is not an `Admitted`.
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

/** This client may reach this endpoint: the rules said so on its own connection. */
export type Admitted = AdmittedClient

export interface Candidate {
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId
  readonly peer: Address
}

/** The rules do not list the address. */
export class NotListed extends Data.TaggedError("NotListed")<{ readonly peer: Address }> {}

/** There are rules, and the last we know of them is too old to let anybody in. */
export class RulesTooOld extends Data.TaggedError("RulesTooOld")<{ readonly project_id: ProjectId }> {}

/** May the candidate connect at `now` (monotonic milliseconds)? An empty list restricts nothing, however old it is. */
export const checkAllowlist = (
  list: Allowlist,
  candidate: Candidate,
  now: number,
  maxStale: number
): Result.Result<Admitted, NotListed | RulesTooOld> => {
  if (list.restricted && now - list.asked_at > maxStale)
    return Result.fail(new RulesTooOld({ project_id: list.project_id }))
  return list.project_id === candidate.project_id && covers(list, candidate.peer, now)
    ? Result.succeed(new AdmittedClient(candidate.endpoint_id, candidate.project_id, candidate.peer))
    : Result.fail(new NotListed({ peer: candidate.peer }))
}
