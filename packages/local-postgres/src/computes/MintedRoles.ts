/**
 * Makes the roles of a compute match the given list exactly.
 *
 * A role that is not predefined by Postgres, not the supervisor's and not the group below was minted: only the
 * supervisor can create roles. Access is granted so that no session can extend it:
 * - `read_write` is membership in the group `narthex_writer`, which owns the schema `public` and may create objects in
 *   the database. Sessions start as the group (`SET role` on the minted role), so the group owns what they create,
 *   and every later minted role can use it. Objects that a session creates after `RESET ROLE` are reassigned to the
 *   group when the role is dropped.
 * - `read_only` is membership in `pg_read_all_data` and nothing else: PUBLIC has neither CREATE nor TEMPORARY nor the
 *   functions that write large objects.
 * A role may change its own password and settings, so both are set again each time. A role with other memberships is
 * dropped and created again, which also ends the sessions that still have its previous rights.
 */
import type { PgClient } from "@effect/sql-pg"
import type { ComputeRole } from "@narthex/core"
import { DateTime, Effect, Option } from "effect"
import { superuser } from "../cluster/Cluster.ts"
import { ImpossibleRequest, LocalPostgresError } from "../machine/LocalPostgresError.ts"

export const writers = "narthex_writer"
const readers = "pg_read_all_data"

/** Sets the privileges that every compute has, whatever its roles. Rights that owners granted on them are revoked. */
export const prepareAccess = Effect.fn("prepareAccess")(function* (sql: PgClient.PgClient) {
  yield* sql.unsafe(`
    DO $$
    DECLARE
      writing regprocedure;
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${writers}') THEN
        CREATE ROLE ${writers} NOLOGIN;
      END IF;
      REVOKE ALL ON DATABASE postgres FROM PUBLIC;
      GRANT CONNECT ON DATABASE postgres TO PUBLIC;
      GRANT CONNECT, CREATE, TEMPORARY ON DATABASE postgres TO ${writers};
      IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public') THEN
        ALTER SCHEMA public OWNER TO ${writers};
        REVOKE CREATE ON SCHEMA public FROM PUBLIC;
      END IF;
      FOR writing IN
        SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
          AND proname IN ('lo_create', 'lo_creat', 'lo_from_bytea', 'pg_logical_emit_message')
      LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', writing);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ${writers}', writing);
      END LOOP;
    END $$`)
})

interface MintedRole {
  readonly name: string
  readonly oid: number
  /** The roles that it is a member of, and `given to …` for each role that is a member of it. */
  readonly groups: ReadonlyArray<string>
}

/** The minted roles that the cluster has, by name. */
export const mintedRoles = (sql: PgClient.PgClient) => sql<MintedRole>`
  SELECT rolname AS name, oid::int8::float8 AS oid,
    ARRAY(SELECT roleid::regrole::text FROM pg_auth_members WHERE member = pg_roles.oid ORDER BY 1)
      || ARRAY(SELECT 'given to ' || member FROM pg_auth_members WHERE roleid = pg_roles.oid) AS groups
  FROM pg_roles
  WHERE rolname !~ '^pg_' AND rolname NOT IN (${superuser}, ${writers})
  ORDER BY rolname COLLATE "C"`

/** Creates, updates and drops roles to match the list, and ends the sessions of dropped roles. */
export const applyRoles = Effect.fn("applyRoles")(function* (
  sql: PgClient.PgClient,
  roles: ReadonlyArray<ComputeRole>
) {
  for (const role of roles) {
    const reason = refusalOf(role)
    if (reason !== undefined) return yield* new ImpossibleRequest({ reason })
  }
  const kept = new Set<string>()
  for (const { groups, name, oid } of yield* mintedRoles(sql)) {
    const wanted = roles.find((it) => it.role === name)
    if (wanted !== undefined && groups.length === 1 && groups[0] === groupOf(wanted)) kept.add(name)
    else yield* dropRole(sql, name, oid)
  }
  yield* sql.withTransaction(
    Effect.forEach(roles, (role) => putRole(sql, role, kept.has(role.role)), { discard: true })
  )
})

const putRole = Effect.fnUntraced(function* (sql: PgClient.PgClient, role: ComputeRole, exists: boolean) {
  const name = identifier(role.role)
  const until = Option.match(role.expires_at, { onNone: () => "infinity", onSome: DateTime.formatIso })
  if (!exists) yield* sql.unsafe(`CREATE ROLE ${name} IN ROLE ${groupOf(role)}`)
  yield* sql.unsafe(`ALTER ROLE ${name} WITH LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
    PASSWORD '${role.verifier}' VALID UNTIL '${until}'`)
  yield* sql.unsafe(`ALTER ROLE ${name} RESET ALL`)
  yield* sql.unsafe(`ALTER ROLE ${name} IN DATABASE postgres RESET ALL`)
  if (role.access === "read_write") yield* sql.unsafe(`ALTER ROLE ${name} SET role = '${writers}'`)
})

/**
 * NOLOGIN first, so that no new session starts, then ends the existing ones. A session that was already authenticating
 * is ended after the role is dropped.
 */
const dropRole = Effect.fnUntraced(function* (sql: PgClient.PgClient, role: string, oid: number) {
  const name = identifier(role)
  yield* sql.unsafe(`ALTER ROLE ${name} NOLOGIN`)
  yield* endSessions(sql, oid)
  yield* sql.unsafe(`REASSIGN OWNED BY ${name} TO ${writers}`)
  yield* sql.unsafe(`DROP OWNED BY ${name}`)
  yield* sql.unsafe(`DROP ROLE ${name}`)
  yield* endSessions(sql, oid)
})

/** Waits until the sessions have ended: their temporary objects would otherwise prevent DROP ROLE. */
const endSessions = (sql: PgClient.PgClient, oid: number) =>
  Effect.gen(function* () {
    while (true) {
      const left = yield* sql`
        SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE usesysid = ${oid}::float8::int8::oid`
      if (left.length === 0) return
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: "10 seconds",
      orElse: () =>
        Effect.fail(
          new LocalPostgresError({
            operation: "Ending the sessions of a role",
            reason: "they did not end within 10 seconds"
          })
        )
    })
  )

const groupOf = (role: ComputeRole) => (role.access === "read_write" ? writers : readers)

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Postgres would take any other text for a password and hash it. */
const verifierForm = /^SCRAM-SHA-256\$\d+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$/

/** Why a role cannot be created. Postgres truncates a name above 63 bytes, so that two names may become one. */
const refusalOf = ({ role, verifier }: ComputeRole): string | undefined => {
  if (role.startsWith("pg_") || reserved.has(role)) return `The role name ${role} is reserved.`
  if (role === "" || role.includes("\0") || Buffer.byteLength(role) > 63) {
    return "The name of a role must have 1 to 63 bytes."
  }
  return verifierForm.test(verifier) ? undefined : `The verifier of the role ${role} is not one of SCRAM-SHA-256.`
}

const reserved = new Set([superuser, writers, "postgres", "public", "none"])
