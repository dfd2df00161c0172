/**
 * The two groups that minted roles belong to. Access is a matter of grants, never of a setting.
 *
 * - `narthex_writer` owns the schema `public` and may create objects in the database. Sessions of a `read_write` role
 *   start as the group (`SET role` on the minted role), so the group owns what they create, and every later minted role
 *   can use it. Objects that a session creates after `RESET ROLE` get the group as their owner when the role is dropped.
 * - `narthex_reader` may read every relation of the database and nothing else: PUBLIC has neither CREATE nor TEMPORARY
 *   nor the functions that write large objects or take advisory locks. New relations are readable by default privileges
 *   of the group of writers and of each role in it; `giveReading` covers the others.
 *
 * Pitfall: `pg_read_all_data` for readers. It includes `pg_authid`, the verifiers of all other roles.
 * Pitfall: leaving rights to PUBLIC. A writer can grant PUBLIC a right to write, or make a SECURITY DEFINER function,
 * which every role may execute. When its rights end, for example because its branch becomes the main branch, such a
 * grant would let a read-only role write. `withdrawWrites` revokes these grants whenever roles are applied.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { superuser } from "../cluster/Cluster.ts"

export const writers = "narthex_writer"
export const readers = "narthex_reader"

/** Whether `prepareAccess` has run on the cluster: an earlier version of this package had no group of readers. */
export const isPrepared = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ readonly is: boolean }>`SELECT to_regrole(${readers}) IS NOT NULL AS is`,
    ([found]) => found?.is === true
  )

const preparation = `
    DO $$
    DECLARE
      restricted regprocedure;
    BEGIN
      IF to_regrole('${writers}') IS NULL THEN
        CREATE ROLE ${writers} NOLOGIN;
      END IF;
      IF to_regrole('${readers}') IS NULL THEN
        CREATE ROLE ${readers} NOLOGIN;
      END IF;
      IF to_regrole('pg_use_reserved_connections') IS NOT NULL THEN
        GRANT pg_use_reserved_connections TO ${writers};
      END IF;
      REVOKE ALL ON DATABASE postgres FROM PUBLIC;
      GRANT CONNECT ON DATABASE postgres TO PUBLIC;
      GRANT CONNECT, CREATE, TEMPORARY ON DATABASE postgres TO ${writers};
      IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public' AND nspowner <> '${writers}'::regrole) THEN
        ALTER SCHEMA public OWNER TO ${writers};
      END IF;
      FOR restricted IN
        SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND (
          proname IN ('lo_create', 'lo_creat', 'lo_from_bytea', 'pg_logical_emit_message')
          OR proname ~ '^pg_(try_)?advisory_(xact_)?lock')
        AND has_function_privilege('public', oid, 'EXECUTE')
      LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', restricted);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ${writers}', restricted);
      END LOOP;
    END $$`

/** Sets the privileges that every compute has, whatever its roles. Idempotent. */
export const prepareAccess = Effect.fn("prepareAccess")((sql: PgClient.PgClient) => sql.unsafe(preparation))

/** Schemas whose objects belong to users. */
const isUserSchema = "nspname !~ '^pg_' AND nspname <> 'information_schema'"

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
  SELECT 'ROUTINE ' || p.oid::regprocedure, proowner, prosecdef, '', acl.*
  FROM pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) acl WHERE prosecdef
  UNION ALL
  SELECT 'SCHEMA ' || quote_ident(nspname), nspowner, ${isUserSchema}, 'USAGE', acl.*
  FROM pg_namespace, aclexplode(nspacl) acl
  UNION ALL
  SELECT 'LARGE OBJECT ' || oid, lomowner, true, 'SELECT', acl.*
  FROM pg_largeobject_metadata, aclexplode(lomacl) acl`

/**
 * The statements that revoke what roles outside the group of writers could write with. Grant options go first, with
 * what was granted by them: a superuser revokes as the owner, which leaves grants of others in place.
 */
const withdrawals = `
  WITH granted AS (${grants}),
  trusted AS (
    SELECT '${superuser}'::regrole::oid AS role UNION ALL SELECT '${writers}'::regrole::oid
    UNION ALL SELECT member FROM pg_auth_members WHERE roleid = '${writers}'::regrole
  ),
  foreign_to_owner AS (
    SELECT *, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS receiver
    FROM granted WHERE counts AND owner <> '${superuser}'::regrole AND grantee <> owner
  ),
  defaults AS (
    SELECT defaclrole::regrole::text AS role, defaclnamespace, privilege_type,
      CASE defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'n' THEN 'SCHEMAS' ELSE 'LARGE OBJECTS' END AS objects,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS receiver
    FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclobjtype IN ('r', 'S', 'n', 'L') AND grantee <> defaclrole AND grantee NOT IN (SELECT role FROM trusted)
      AND privilege_type <> CASE defaclobjtype WHEN 'n' THEN 'USAGE' ELSE 'SELECT' END
  )
  SELECT 1 AS step, format('REVOKE GRANT OPTION FOR ALL ON %s FROM %s CASCADE', object, receiver) AS statement
  FROM foreign_to_owner WHERE is_grantable AND grantor = owner
  UNION
  SELECT 2, format('REVOKE %s ON %s FROM %s CASCADE', privilege_type, object, receiver)
  FROM foreign_to_owner WHERE privilege_type <> reading AND grantee NOT IN (SELECT role FROM trusted)
  UNION
  SELECT 3, format('GRANT EXECUTE ON %s TO ${writers}', object)
  FROM foreign_to_owner WHERE reading = '' AND grantee = 0 AND owner <> '${writers}'::regrole
  UNION
  SELECT 4, format('ALTER DEFAULT PRIVILEGES FOR ROLE %s %s REVOKE %s ON %s FROM %s', role,
    (SELECT 'IN SCHEMA ' || quote_ident(nspname) FROM pg_namespace n WHERE n.oid = defaclnamespace),
    privilege_type, objects, receiver)
  FROM defaults
  ORDER BY step`

/** Revokes every right to write that PUBLIC or a role outside the group of writers has, by grant or by function. */
export const withdrawWrites = Effect.fn("withdrawWrites")(function* (sql: PgClient.PgClient) {
  yield* sql.unsafe(`
    DO $do$
    DECLARE
      withdrawal text;
    BEGIN
      FOR withdrawal IN SELECT statement FROM (${withdrawals}) found LOOP
        EXECUTE withdrawal;
      END LOOP;
    END $do$`)
})

/** The statements that make relations readable: those that exist, and those that writers will create. */
const missingReads = `
  SELECT format('GRANT USAGE ON SCHEMA %I TO ${readers}', nspname) AS statement
  FROM pg_namespace WHERE ${isUserSchema} AND NOT has_schema_privilege('${readers}', oid, 'USAGE')
  UNION ALL
  SELECT format('GRANT SELECT ON %s TO ${readers}', c.oid::regclass)
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE ${isUserSchema} AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    AND NOT has_table_privilege('${readers}', c.oid, 'SELECT')
  UNION ALL
  SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %s GRANT %s TO ${readers}', role::regrole, given)
  FROM (SELECT '${writers}'::regrole::oid AS role
    UNION ALL SELECT member FROM pg_auth_members WHERE roleid = '${writers}'::regrole) creators,
    (VALUES ('r', 'SELECT ON TABLES'), ('S', 'SELECT ON SEQUENCES'), ('n', 'USAGE ON SCHEMAS')) kinds (kind, given)
  WHERE NOT EXISTS (
    SELECT FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclrole = role AND defaclnamespace = 0 AND defaclobjtype = kind::"char"
      AND grantee = '${readers}'::regrole AND privilege_type = split_part(given, ' ', 1))`

/** How many grants one transaction makes. */
const batch = 2000

/**
 * Lets the group of readers read everything that it cannot yet: objects of clusters that an earlier version made, and
 * those whose creator had changed the default privileges. An object that a session holds locked is left out; the next
 * call finds it.
 */
export const giveReading = Effect.fn("giveReading")(function* (sql: PgClient.PgClient) {
  const missing = Effect.map(
    sql.unsafe<{ readonly n: number }>(`SELECT count(*)::int AS n FROM (${missingReads}) found`),
    ([found]) => found?.n ?? 0
  )
  let left = yield* missing
  while (left > 0) {
    yield* sql.unsafe(`
      DO $do$
      DECLARE
        gift text;
      BEGIN
        SET LOCAL lock_timeout = '100ms';
        FOR gift IN SELECT statement FROM (${missingReads}) found LIMIT ${batch} LOOP
          BEGIN
            EXECUTE gift;
          EXCEPTION WHEN OTHERS THEN
            NULL;
          END;
        END LOOP;
      END $do$`)
    const still = yield* missing
    if (still >= left) return
    left = still
  }
})

/** What decides the rights of roles, apart from their list: it changes with this package. */
export const accessStatements = [preparation, withdrawals, missingReads]

/**
 * Whether `prepareAccess`, `withdrawWrites` and `giveReading` would change nothing on a cluster on which they have run, as an
 * expression. Of what `prepareAccess` sets, users can change the owner of the schema `public` alone.
 */
export const isSettled = `
    NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public' AND nspowner <> '${writers}'::regrole)
    AND NOT EXISTS (SELECT FROM (${withdrawals}) found) AND NOT EXISTS (SELECT FROM (${missingReads}) found)`
