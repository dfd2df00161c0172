/** ALLOW (docs/design/proxy.md P12): the check of a client's address, and the report of a refusal. */
import { isRoleName, type RefusalReason } from "@narthex/core"
import { Exit, Result } from "effect"
import type { Admitted, Candidate, NotListed, RulesTooOld } from "../allowlist/checkAllowlist.ts"
import type { RulesUnknown } from "../control-plane/AllowlistCache.ts"
import { type Cancel, nothing, type OnExit } from "../control-plane/Run.ts"
import { notListed, type Refusal, rulesUnknown } from "../outcomes/Refusal.ts"
import type { SharedState } from "./SharedState.ts"

export type NotAllowed = NotListed | RulesTooOld | RulesUnknown

/** The check. Where the rules are known it needs no fiber. */
export const allow = (shared: SharedState, candidate: Candidate, onExit: OnExit<Admitted, NotAllowed>): Cancel => {
  const checked = shared.allowlists.checkNow(candidate)
  if (checked === undefined) return shared.run(shared.allowlists.check(candidate), onExit)
  onExit(Result.isSuccess(checked) ? Exit.succeed(checked.success) : Exit.fail(checked.failure))
  return nothing
}

/**
 * Counts and reports a refusal, and returns the answer to the client. `user` is the role that the client named, if any:
 * the text of a stranger until the client has authenticated.
 */
export const refuse = (
  shared: SharedState,
  candidate: Candidate,
  user: string | undefined,
  { _tag }: NotAllowed
): Refusal =>
  _tag === "NotListed" ? refuseUnlisted(shared, candidate, user) : refuseUnchecked(shared, candidate, user)

/** No rule covers the address: audited, reported and refused. */
export const refuseUnlisted = (shared: SharedState, candidate: Candidate, user: string | undefined): Refusal => {
  const { endpoint_id, peer, project_id } = candidate
  report(shared, candidate, user, "address_not_listed")
  shared.audit.refused({ endpoint_id, project_id, client_address: peer.text })
  return notListed(peer.text, project_id)
}

/** The rules cannot be checked: reported and refused. */
const refuseUnchecked = (shared: SharedState, candidate: Candidate, user: string | undefined): Refusal => {
  report(shared, candidate, user, "rules_unknown")
  return rulesUnknown()
}

const report = (
  { refusals }: SharedState,
  { endpoint_id, peer, project_id }: Candidate,
  user: string | undefined,
  reason: RefusalReason
) => {
  const role = user !== undefined && isRoleName(user) ? user : undefined
  refusals.add({ project_id, endpoint_id, address: peer.text, role, reason })
}
