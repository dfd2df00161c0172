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
 *
 * A new function is executable by writers alone, because it may have the rights of its definer. `giveReading` lets readers
 * execute those that have not.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { isRestricted, restrictedAggregates } from "./uncheckedCalls.ts"

export const writers = "narthex_writer"
export const readers = "narthex_reader"

/** The role of the session. `current_user::regrole` would read the name as SQL does, and fail for one with upper case. */
export const currentRole = "(SELECT oid FROM pg_roles WHERE rolname = current_user)"

/** Whether `prepareAccess` has run on the cluster: an earlier version of this package had no group of readers. */
export const isPrepared = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ readonly is: boolean }>`SELECT to_regrole(${readers}) IS NOT NULL AS is`,
    ([found]) => found?.is === true
  )

export const preparation = `
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
        SELECT oid FROM pg_proc WHERE ${isRestricted} AND has_function_privilege('public', oid, 'EXECUTE')
      LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', restricted);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ${writers}', restricted);
      END LOOP;
    END $$`

/** Sets the privileges that every compute has, whatever its roles. Idempotent. */
export const prepareAccess = Effect.fn("prepareAccess")((sql: PgClient.PgClient) => sql.unsafe(preparation))

/** Objects of Postgres itself have lower oids. The comparison is cheap and spares the others on thousands of rows. */
export const firstOid = 16_384

/** Schemas whose objects belong to users. */
export const isUserSchema = "nspname !~ '^pg_' AND nspname <> 'information_schema'"

/**
 * Roles that create objects: the group, and its members after `RESET ROLE`. An admin without SUPERUSER is a member of the
 * groups that it made.
 */
const creators = `
  SELECT '${writers}'::regrole::oid AS role
  UNION ALL SELECT member FROM pg_auth_members JOIN pg_roles r ON r.oid = member
  WHERE roleid = '${writers}'::regrole AND rolname <> current_user AND NOT rolsuper`

/**
 * The statements that make present and future relations readable, and functions executable. `counts(owner)`: whether
 * the functions of an owner count. Readers have PUBLIC's rights on all other functions.
 */
export const missingReadsOf = (counts: (owner: string) => string) => `
  SELECT format('GRANT USAGE ON SCHEMA %I TO ${readers}', nspname) AS statement
  FROM pg_namespace WHERE ${isUserSchema} AND NOT has_schema_privilege('${readers}', oid, 'USAGE')
  UNION ALL
  SELECT format('GRANT SELECT ON %s TO ${readers}', c.oid::regclass)
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE ${isUserSchema} AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    AND NOT has_table_privilege('${readers}', c.oid, 'SELECT')
  UNION ALL
  SELECT format('GRANT EXECUTE ON ROUTINE %s TO ${readers}', p.oid::regprocedure)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE p.oid >= ${firstOid} AND ${isUserSchema} AND ${counts("proowner")} AND NOT prosecdef AND p.oid NOT IN (${restrictedAggregates})
    AND NOT has_function_privilege('${readers}', p.oid, 'EXECUTE')
  UNION ALL
  SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %s REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC', role::regrole)
  FROM (${creators}) creators
  WHERE NOT EXISTS (
    SELECT FROM pg_default_acl WHERE defaclrole = role AND defaclnamespace = 0 AND defaclobjtype = 'f'
      AND NOT EXISTS (SELECT FROM aclexplode(defaclacl) WHERE grantee = 0))
  UNION ALL
  SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %s GRANT %s TO %s', role::regrole, given, receiver)
  FROM (${creators}) creators,
    (VALUES ('r', 'SELECT ON TABLES', '${readers}'), ('S', 'SELECT ON SEQUENCES', '${readers}'),
      ('n', 'USAGE ON SCHEMAS', '${readers}'), ('f', 'EXECUTE ON FUNCTIONS', '${writers}')) kinds (kind, given, receiver)
  WHERE NOT EXISTS (
    SELECT FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclrole = role AND defaclnamespace = 0 AND defaclobjtype = kind::"char"
      AND grantee = receiver::regrole AND privilege_type = split_part(given, ' ', 1))`

/** On a compute everything that is not the supervisor's belongs to users. */
export const isUsers = (owner: string) => `${owner} <> ${currentRole}`

export const missingReads = missingReadsOf(isUsers)

/** How many grants one transaction makes. */
const batch = 2000

/** Executes some of these statements. Failing ones are skipped, for example if a session holds the object locked. */
export const readingBatch = (missing: string) => `
  DO $do$
  DECLARE
    gift text;
  BEGIN
    SET LOCAL lock_timeout = '100ms';
    FOR gift IN SELECT statement FROM (${missing}) found LIMIT ${batch} LOOP
      BEGIN
        EXECUTE gift;
      EXCEPTION WHEN OTHERS THEN
        NULL;
      END;
    END LOOP;
  END $do$`

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
    yield* sql.unsafe(readingBatch(missingReads))
    const still = yield* missing
    if (still >= left) return
    left = still
  }
})
