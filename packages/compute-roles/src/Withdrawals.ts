/**
 * The ways in which roles outside the group of writers could write, and the statements that revoke them: grants, and
 * functions with the rights of their definer.
 *
 * Pitfall: leaving rights to PUBLIC. A writer can grant PUBLIC a right to write, or make a SECURITY DEFINER function.
 * When its rights end, for example because its branch becomes the main branch, they would let a read-only role write.
 * Pitfall: revoking EXECUTE alone. Postgres calls some functions without asking for it (`uncheckedCalls`).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { currentRole, firstOid, isUserSchema, isUsers, owners, writers } from "./roleNames.ts"
import {
  hasRestrictedOperator,
  restrictedAggregates,
  rulesOverLockingPolicies,
  uncheckedFunctions
} from "./uncheckedCalls.ts"

/**
 * The grants on relations, columns, routines, schemas and large objects, with the word that GRANT has for the object.
 */
const grants = `
  SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || c.oid::regclass AS object, relowner AS owner,
    relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AS counts, 'SELECT' AS reading, acl.*
  FROM pg_class c, aclexplode(relacl) acl
  UNION ALL
  SELECT 'TABLE ' || c.oid::regclass, relowner, true, 'SELECT', acl.*
  FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid, aclexplode(attacl) acl WHERE attacl IS NOT NULL
  UNION ALL
  SELECT 'ROUTINE ' || p.oid::regprocedure, proowner, true, '', acl.*
  FROM pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) acl
  WHERE prosecdef OR p.oid IN (${restrictedAggregates})
  UNION ALL
  SELECT 'SCHEMA ' || quote_ident(nspname), nspowner, ${isUserSchema}, 'USAGE', acl.*
  FROM pg_namespace, aclexplode(nspacl) acl
  UNION ALL
  SELECT 'LARGE OBJECT ' || oid, lomowner, true, 'SELECT', acl.*
  FROM pg_largeobject_metadata, aclexplode(lomacl) acl`

/**
 * The statements, as rows of `step` and `statement`. Writers get EXECUTE before PUBLIC loses it: the statements are executed in
 * batches, and what PUBLIC has lost no later batch finds. Grant options go first, with what was granted by them: a superuser
 * revokes as the owner, which leaves grants of others in place. `counts(owner)`: the objects of which owners count. `group`: as whom
 * writers have their rights.
 */
export const withdrawalsOf = (counts: (owner: string) => string, group: string) => `
  WITH granted AS (${grants}),
  trusted AS (
    SELECT ${currentRole} AS role UNION ALL SELECT '${writers}'::regrole::oid UNION ALL SELECT '${group}'::regrole::oid
    UNION ALL SELECT member FROM pg_auth_members WHERE roleid = '${writers}'::regrole
  ),
  foreign_to_owner AS (
    SELECT *, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS receiver
    FROM granted WHERE counts AND ${counts("owner")} AND grantee <> owner
  ),
  defaults AS (
    SELECT defaclrole::regrole::text AS role, defaclnamespace, privilege_type,
      CASE defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'n' THEN 'SCHEMAS'
        WHEN 'f' THEN 'FUNCTIONS' ELSE 'LARGE OBJECTS' END AS objects,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS receiver
    FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclobjtype IN ('r', 'S', 'n', 'f', 'L') AND ${counts("defaclrole")} AND grantee <> defaclrole
      AND grantee NOT IN (SELECT role FROM trusted)
      AND privilege_type <> CASE defaclobjtype WHEN 'n' THEN 'USAGE' ELSE 'SELECT' END
  )
  SELECT 1 AS step, format('REVOKE GRANT OPTION FOR ALL ON %s FROM %s CASCADE', object, receiver) AS statement
  FROM foreign_to_owner WHERE is_grantable AND grantor = owner
  UNION
  SELECT 2, format('GRANT EXECUTE ON %s TO ${group}', object)
  FROM foreign_to_owner f WHERE reading = '' AND grantee = 0 AND owner <> '${group}'::regrole
    AND NOT EXISTS (SELECT FROM granted g WHERE g.object = f.object AND g.grantee = '${group}'::regrole)
  UNION
  SELECT 3, format('REVOKE %s ON %s FROM %s CASCADE', privilege_type, object, receiver)
  FROM foreign_to_owner WHERE privilege_type <> reading AND grantee NOT IN (SELECT role FROM trusted)
  UNION
  SELECT 4, format('ALTER DEFAULT PRIVILEGES FOR ROLE %s %s REVOKE %s ON %s FROM %s', role,
    (SELECT 'IN SCHEMA ' || quote_ident(nspname) FROM pg_namespace n WHERE n.oid = defaclnamespace),
    privilege_type, objects, receiver)
  FROM defaults
  UNION
  SELECT 5, format('ALTER ROUTINE %s SECURITY INVOKER', oid::regprocedure)
  FROM pg_proc WHERE prosecdef AND ${counts("proowner")} AND oid IN (${uncheckedFunctions})
  UNION
  SELECT 6, format('ALTER OPERATOR %s SET (RESTRICT = NONE, JOIN = NONE)', oid::regoperator)
  FROM pg_operator WHERE (oprrest <> 0 OR oprjoin <> 0) AND ${counts("oprowner")} AND ${hasRestrictedOperator}
  UNION
  -- A view that locks rows, itself or by a policy, does so with the rights of its owner. One of another session's temporary
  -- objects cannot be altered, and no other role reaches it. Servers before Postgres 15 know no security_invoker.
  SELECT 7, format('ALTER VIEW %s SET (security_invoker = true)', c.oid::regclass)
  FROM pg_class c JOIN pg_rewrite r ON ev_class = c.oid
  WHERE ev_class >= ${firstOid} AND relkind = 'v' AND relpersistence <> 't' AND ${counts("relowner")}
    AND (ev_action::text LIKE '%{ROWMARKCLAUSE %' OR r.oid IN (${rulesOverLockingPolicies}))
    AND NOT coalesce('security_invoker=true' = ANY (reloptions), false)
    AND current_setting('server_version_num')::int >= 150000
  ORDER BY step`

export const withdrawals = withdrawalsOf(isUsers, owners)

/** How many statements one transaction executes: each holds a lock until its end, and a tenant decides how many there are. */
const batch = 1_000

/** The block that executes the first of the statements, in their order. */
export const withdraw = (statements: string) => `
  DO $do$
  DECLARE
    withdrawal text;
  BEGIN
    FOR withdrawal IN SELECT statement FROM (${statements}) found LIMIT ${batch} LOOP
      EXECUTE withdrawal;
    END LOOP;
  END $do$`

/** How many rights to write PUBLIC, or a role outside the group of writers, has by grant or by function. */
export const withdrawable = Effect.fn("withdrawable")((sql: PgClient.PgClient) =>
  Effect.map(
    sql.unsafe<{ readonly n: number }>(`SELECT count(*)::int AS n FROM (${withdrawals}) found`),
    ([found]) => found?.n ?? 0
  )
)

/** Revokes some of them, in a transaction of its own: what a call that is killed has revoked stays revoked. */
export const withdrawSome = Effect.fn("withdrawSome")((sql: PgClient.PgClient) => sql.unsafe(withdraw(withdrawals)))
