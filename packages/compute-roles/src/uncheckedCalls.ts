/**
 * Functions that Postgres calls without the EXECUTE of the session's role, as SQL. A function with the rights of its
 * definer that is one of these would write for a role that may only read.
 *
 * - The functions of an aggregate: EXECUTE on them is checked as the owner of the aggregate.
 * - The functions of a range type, and of a cast to `json`, which `to_json` looks up: no check.
 * - The function of an operator, also as the negator or commutator of another one: the planner calls it to estimate how
 *   many rows match, without a check.
 *
 * Row locks are no calls, and the right to take them is checked as the owner of the view. The view may lock rows, or
 * be over a table whose policy locks rows in a subquery or leads to another table with such a policy.
 *
 * Views, policies, defaults, constraints, domains, indexes and statistics have expressions; for each function in one
 * EXECUTE of the session's role is checked. Operator classes, languages, foreign data wrappers, text search templates,
 * event triggers and base types need a superuser.
 */

/**
 * Functions of Postgres that write, lock, or use up what all share (files of exported snapshots, the queue of notifications,
 * transaction ids), on rows of `pg_proc`. Only the group of writers may execute them.
 */
export const isRestricted = `pronamespace = 'pg_catalog'::regnamespace AND (
  proname IN ('lo_create', 'lo_creat', 'lo_from_bytea', 'pg_logical_emit_message', 'pg_export_snapshot', 'pg_notify',
    'txid_current', 'pg_current_xact_id')
  OR proname ~ '^pg_(try_)?advisory_(xact_)?lock')`

const functionsOfAggregate = `unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn,
  aggminvtransfn, aggmfinalfn]::oid[])`

/** The oids of the functions that Postgres may call without a check. */
export const uncheckedFunctions = `
  SELECT ${functionsOfAggregate} FROM pg_aggregate
  UNION SELECT unnest(ARRAY[rngcanonical, rngsubdiff]::oid[]) FROM pg_range
  UNION SELECT oprcode FROM pg_operator
  UNION SELECT castfunc FROM pg_cast`

const restrictedFunctions = `SELECT oid FROM pg_proc WHERE ${isRestricted}`

/** The oids of the aggregates that execute a restricted function. */
export const restrictedAggregates = `
  SELECT aggfnoid::oid FROM pg_aggregate, ${functionsOfAggregate} component WHERE component IN (${restrictedFunctions})`

/** Whether an operator executes a restricted function. */
export const hasRestrictedOperator = `EXISTS (SELECT FROM pg_operator WHERE oprcode IN (${restrictedFunctions}))`

/** The oids of the rules of views over tables that have policies, if any policy locks rows. */
export const rulesOverLockingPolicies = `
  SELECT objid FROM pg_depend JOIN pg_policy ON polrelid = refobjid
  WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
    AND EXISTS (SELECT FROM pg_policy WHERE polqual::text LIKE '%{ROWMARKCLAUSE %')`
