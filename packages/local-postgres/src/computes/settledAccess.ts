/** Whether a cluster has exactly the rights that applying roles gives, as SQL. */
import { missingReads, preparation, writers } from "./RoleGroups.ts"
import { withdrawals } from "./Withdrawals.ts"

/** What decides the rights of roles, apart from their list: it changes with this package. */
export const accessStatements = [preparation, withdrawals, missingReads]

/**
 * Whether `prepareAccess`, `withdrawWrites` and `giveReading` would change nothing on a cluster on which they have run, as an
 * expression. Of what `prepareAccess` sets, users can change the owner of the schema `public` alone.
 */
export const isSettled = `
    NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public' AND nspowner <> '${writers}'::regrole)
    AND NOT EXISTS (SELECT FROM (${withdrawals}) found) AND NOT EXISTS (SELECT FROM (${missingReads}) found)`
