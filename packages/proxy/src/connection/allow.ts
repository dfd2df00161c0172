/** ALLOW (docs/design/proxy.md P12): the check of a client's address, and what follows a refusal. */
import { isRoleName, type RefusalReason } from "@narthex/core"
import { Effect } from "effect"
import type { Admitted, Candidate } from "../allowlist/checkAllowlist.ts"
import { notListed, type Refusal, rulesUnknown } from "../outcomes/Refusal.ts"
import type { SharedState } from "./SharedState.ts"

/** `user` is what the client named, if it named one. It is a stranger's text until the client has authenticated. */
export const allow = (
  shared: SharedState,
  candidate: Candidate,
  user: string | undefined
): Effect.Effect<Admitted, Refusal> =>
  shared.allowlists.check(candidate).pipe(
    Effect.catchTags({
      NotListed: () => refuseUnlisted(shared, candidate, user),
      RulesTooOld: () => refuseUnchecked(shared, candidate, user),
      RulesUnknown: () => refuseUnchecked(shared, candidate, user)
    })
  )

/** No rule covers the address: audited, reported and refused. */
export const refuseUnlisted = (shared: SharedState, candidate: Candidate, user: string | undefined) =>
  Effect.suspend(() => {
    const { endpoint_id, peer, project_id } = candidate
    report(shared, candidate, user, "address_not_listed")
    return Effect.andThen(
      shared.audit.refused({ endpoint_id, project_id, client_address: peer.text }),
      notListed(peer.text)
    )
  })

/** The rules cannot be checked: reported and refused. */
export const refuseUnchecked = (shared: SharedState, candidate: Candidate, user: string | undefined) =>
  Effect.suspend(() => {
    report(shared, candidate, user, "rules_unknown")
    return rulesUnknown()
  })

const report = (
  { refusals }: SharedState,
  { endpoint_id, peer, project_id }: Candidate,
  user: string | undefined,
  reason: RefusalReason
) => {
  const role = user !== undefined && isRoleName(user) ? user : undefined
  refusals.add({ project_id, endpoint_id, address: peer.text, role, reason })
}
