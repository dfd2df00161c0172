/** Whether a cluster has exactly the rights that applying roles gives, as SQL. */
import { preparation } from "./RoleGroups.ts"
import { owners } from "./roleNames.ts"
import { missingShares } from "./SharedObjects.ts"
import { withdrawals } from "./Withdrawals.ts"

/** The statements that decide the rights of roles, apart from their list. They change with this package. */
export const accessStatements = [preparation, withdrawals, missingShares]

/**
 * Whether `prepareAccess`, `withdrawWrites` and `shareObjects` would change nothing on a cluster on which they have run, as an
 * expression. Users can change only one thing that `prepareAccess` sets: the owner of the schema `public`.
 */
export const isSettled = `
    NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public' AND nspowner <> '${owners}'::regrole)
    AND NOT EXISTS (SELECT FROM (${withdrawals}) found) AND NOT EXISTS (SELECT FROM (${missingShares}) found)`
