/**
 * Facts about the running act that a service knows and that neither its path nor its answer says: the organization that
 * its entry belongs to, and names of objects. Where no act runs, nothing is noted.
 */
import { Context, Effect } from "effect"
import type { OrgId } from "../../Ids.ts"

export interface ActFacts {
  org_id: OrgId
  /** By id. */
  readonly names: Map<string, string>
}

export const RunningAct = Context.Reference<ActFacts | undefined>("@narthex/core/records/audit/RunningAct", {
  defaultValue: () => undefined
})

/** The entry of the running act belongs to this organization, and not to the one that the caller acts in. */
export const actsIn = (org_id: OrgId): Effect.Effect<void> =>
  Effect.map(RunningAct, (act) => {
    if (act !== undefined) act.org_id = org_id
  })

/** The name of an object of the running act; `null`: it has none. */
export const actsOn = (id: string, name: string | null): Effect.Effect<void> =>
  Effect.map(RunningAct, (act) => {
    if (name !== null) act?.names.set(id, name)
  })
