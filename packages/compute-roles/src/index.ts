/**
 * The public surface of compute-roles: re-exports, nothing else.
 *
 * The pieces of SQL (`loginsUnderWay`, `missingReadsOf`, `readingBatch`, `isRestricted`, `withdrawalsOf`) are for servers whose
 * operator has roles and objects of its own. They may change with each version, and are safe only in a session whose
 * `search_path` is `pg_catalog, pg_temp`: they name no schema of the functions that they call.
 */
export { applyRoles, RoleRefused, RolesNotApplied, type RolesToApply } from "./applyRoles.ts"
export { endsWithin } from "./endsWithin.ts"
export { loginsUnderWay, loginsWithin } from "./loginsUnderWay.ts"
export { formerRoles, mintedRoles, refusalOf, retire, wantedState } from "./MintedRoles.ts"
export { isPrepared } from "./RoleGroups.ts"
export { missingReadsOf, readingBatch } from "./reads.ts"
export { differs, needsRoles, type RoleState, roleState } from "./roleDifference.ts"
export { readers, writers } from "./roleNames.ts"
export {
  type AsSuperuser,
  RoleWorkFailed,
  type SessionFailure,
  type SessionLimits,
  sqlstateOf
} from "./SuperuserSession.ts"
export { accessStatements } from "./settledAccess.ts"
export { isRestricted } from "./uncheckedCalls.ts"
export { withdrawalsOf } from "./Withdrawals.ts"
