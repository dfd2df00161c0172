/** Whether applying a list of roles would change a running cluster, asked with one statement. */
import type { ComputeRole } from "@narthex/core"
import { Duration, Effect } from "effect"
import { changesTo, type MintedRole, mintedRolesQuery } from "./MintedRoles.ts"
import type { AsSuperuser, SessionFailure } from "./SuperuserSession.ts"
import { isSettled } from "./settledAccess.ts"

export interface RoleState {
  readonly roles: ReadonlyArray<MintedRole>
  readonly settled: boolean
}

/** The columns of `RoleState`. */
export const roleState = `
  (SELECT coalesce(json_agg(role), '[]') FROM (${mintedRolesQuery}) role) AS roles, ${isSettled} AS settled`

export const differs = (state: RoleState, roles: ReadonlyArray<ComputeRole>) =>
  !state.settled || Object.values(changesTo(state.roles, roles)).some(({ length }) => length > 0)

/** `within` is the limit of the statement. */
export const needsRoles = <F extends SessionFailure>(
  asSuperuser: AsSuperuser<F>,
  roles: ReadonlyArray<ComputeRole>,
  within: Duration.Duration
) =>
  asSuperuser<boolean, never>(
    (sql) =>
      Effect.map(
        sql.unsafe<RoleState>(`SELECT ${roleState}`),
        ([state]) => state !== undefined && differs(state, roles)
      ),
    { statement_timeout: `${Duration.toMillis(within)}ms`, lock_timeout: "200ms" }
  )
