/** Makes the rights of a cluster those of an earlier version, which had default privileges, and writers own what they made. */

import { isRestricted } from "@narthex/compute-roles"
import { Effect } from "effect"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import type { Cluster } from "../src/cluster/Cluster.ts"

const defaults = (role: string) => [
  `ALTER DEFAULT PRIVILEGES FOR ROLE ${role} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC`,
  `ALTER DEFAULT PRIVILEGES FOR ROLE ${role} GRANT EXECUTE ON FUNCTIONS TO narthex_writer`,
  `ALTER DEFAULT PRIVILEGES FOR ROLE ${role} GRANT SELECT ON TABLES TO narthex_reader`,
  `ALTER DEFAULT PRIVILEGES FOR ROLE ${role} GRANT SELECT ON SEQUENCES TO narthex_reader`,
  `ALTER DEFAULT PRIVILEGES FOR ROLE ${role} GRANT USAGE ON SCHEMAS TO narthex_reader`
]

export const giveFormerAccess = (cluster: Cluster, writer: string) =>
  asSupervisor(cluster, "postgres", (sql) =>
    Effect.forEach(
      [
        "ALTER EXTENSION plpgsql DROP EVENT TRIGGER narthex_shares",
        "DROP EVENT TRIGGER narthex_shares",
        "DROP FUNCTION narthex_shares",
        "DELETE FROM pg_auth_members WHERE roleid = 'pg_database_owner'::regrole",
        "REVOKE ALL ON DATABASE postgres FROM pg_database_owner",
        "GRANT CONNECT, CREATE, TEMPORARY ON DATABASE postgres TO narthex_writer",
        "ALTER SCHEMA public OWNER TO narthex_writer",
        `DO $$ DECLARE it regprocedure; BEGIN
          FOR it IN SELECT oid FROM pg_proc WHERE ${isRestricted} LOOP
            EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM pg_database_owner', it);
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO narthex_writer', it);
          END LOOP;
          DELETE FROM pg_init_privs USING pg_proc WHERE objoid = oid AND ${isRestricted};
        END $$`,
        ...defaults("narthex_writer"),
        ...defaults(writer),
        `ALTER ROLE ${writer} SET role = 'narthex_writer'`
      ],
      (statement) => sql.unsafe(statement),
      { discard: true }
    )
  )
