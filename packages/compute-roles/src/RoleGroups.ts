/**
 * The two groups that minted roles belong to. Access is a matter of grants, never of a setting.
 *
 * - `narthex_writer` is a member of `pg_database_owner`, which owns the schema `public` and may create objects in the
 *   database. Sessions of a `read_write` role start as `pg_database_owner` (`SET role` on the minted role), so it owns what
 *   they create, every later minted role can use it, and a dump names no owner that another server lacks.
 * - `narthex_reader` may read every relation of the database and nothing else: PUBLIC has neither CREATE nor TEMPORARY
 *   nor the functions that write large objects or take advisory locks.
 *
 * `SharedObjects` has the rights of both on objects of users.
 *
 * Pitfall: `pg_read_all_data` for readers. It includes `pg_authid`, the verifiers of all other roles.
 * Pitfall: making writers the owner of the database, which Postgres takes for the member of `pg_database_owner`. The owner may
 * forbid all connections, the supervisor's included, and set what its sessions start with. So the membership is a row that
 * no statement makes, and that `pg_upgrade` cannot carry over: delete it before, the next start makes it again.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { currentRole, owners, readers, writers } from "./roleNames.ts"
import { shareTrigger, triggerName } from "./SharedObjects.ts"
import { isRestricted } from "./uncheckedCalls.ts"

/** Whether `prepareAccess` has run on the cluster: an earlier version of this package had no event trigger. */
export const isPrepared = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ readonly is: boolean }>`SELECT EXISTS (SELECT FROM pg_event_trigger WHERE evtname = ${triggerName}) AS is`,
    ([found]) => found?.is === true
  )

const membership = "roleid, member, grantor, admin_option"
const memberOfOwners = `'${owners}'::regrole, '${writers}'::regrole, ${currentRole}, false`
const memberships = "pg_auth_members"

/** `pg_dump` prints no rights of functions of Postgres that are recorded as initial ones. */
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
      IF NOT EXISTS (SELECT FROM ${memberships} WHERE roleid = '${owners}'::regrole) THEN
        IF current_setting('server_version_num')::int >= 160000 THEN
          INSERT INTO ${memberships} (oid, ${membership}, inherit_option, set_option)
          VALUES (pg_nextoid('${memberships}', 'oid', '${memberships}_oid_index'), ${memberOfOwners}, true, true);
        ELSE
          INSERT INTO ${memberships} (${membership}) VALUES (${memberOfOwners});
        END IF;
      END IF;
      IF to_regrole('pg_use_reserved_connections') IS NOT NULL THEN
        GRANT pg_use_reserved_connections TO ${writers};
      END IF;
      REVOKE ALL ON DATABASE postgres FROM PUBLIC;
      GRANT CONNECT ON DATABASE postgres TO PUBLIC;
      GRANT CREATE, TEMPORARY ON DATABASE postgres TO ${owners};
      IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public' AND nspowner <> '${owners}'::regrole) THEN
        ALTER SCHEMA public OWNER TO ${owners};
      END IF;
      FOR restricted IN
        SELECT oid FROM pg_proc WHERE ${isRestricted}
          AND (has_function_privilege('public', oid, 'EXECUTE') OR NOT has_function_privilege('${owners}', oid, 'EXECUTE'))
      LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', restricted);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ${owners}', restricted);
      END LOOP;
      DELETE FROM pg_init_privs USING pg_proc
      WHERE objoid = oid AND classoid = 'pg_proc'::regclass AND ${isRestricted} AND initprivs IS DISTINCT FROM proacl;
      INSERT INTO pg_init_privs SELECT oid, 'pg_proc'::regclass, 0, 'i', proacl FROM pg_proc
      WHERE ${isRestricted} AND oid NOT IN (SELECT objoid FROM pg_init_privs WHERE classoid = 'pg_proc'::regclass);
      ${shareTrigger}
    END $$`

/** Sets the privileges that every compute has, whatever its roles. Idempotent. */
export const prepareAccess = Effect.fn("prepareAccess")((sql: PgClient.PgClient) => sql.unsafe(preparation))
