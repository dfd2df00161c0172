/**
 * The minted roles of a cluster as its catalog has them, and the statements that change them.
 *
 * A role whose name begins neither with `pg_` nor with `narthex` was minted, but for the supervisor's own and that of
 * CloudNativePG's replicas: only the supervisor can create roles.
 *
 * A role may change its own password and settings, so both are compared each time. On Postgres 15 it may also make
 * others members of itself; such memberships are revoked.
 *
 * A role ends in two steps. `retire` takes its login, its password, its name and its memberships: from then on it has
 * no right of any kind. `bury` gives the rest of its objects to `pg_database_owner` and drops it, which another session can hold
 * up by a lock on one of the objects; that step is repeated whenever roles are applied.
 */
import type { PgClient } from "@effect/sql-pg"
import type { ComputeRole } from "@narthex/core"
import { DateTime, Effect, Option } from "effect"
import { owners, readers, writers } from "./roleNames.ts"

/**
 * How many sessions a role may have at once, in SQL; `max_connections` is in `Cluster`. Before Postgres 16 no places can
 * be kept free for writers, so readers have fewer (docs/design/proxy.md P29).
 */
const connectionLimits = {
  read_write: "80",
  read_only: "CASE WHEN current_setting('server_version_num')::int < 160000 THEN 4 ELSE 20 END"
} as const

/**
 * The settings that a session of the role starts with, by name. A reader's session says that it is read-only, which clients
 * ask (`target_session_attrs` of libpq); the grants keep it so. Only a superuser may change `temp_file_limit`, which holds for each
 * process: from Postgres 16 on the 40 sessions of an endpoint's readers, and the two parallel workers that a compute has,
 * write 5.3 GB of temporary files at most.
 */
const settings = {
  read_write: [["role", owners]],
  read_only: [
    ["default_transaction_read_only", "on"],
    ["temp_file_limit", "128MB"]
  ]
} as const

export interface MintedRole {
  readonly name: string
  readonly oid: number
  /** The roles that it is a member of. */
  readonly groups: ReadonlyArray<string>
  /** The roles that are members of it. */
  readonly members: ReadonlyArray<string>
  /** The attributes that `put` sets, in the form of `stateOf`. */
  readonly state: string
}

/** The changes that make the minted roles exactly those of the list. */
export interface RoleChanges {
  /** Roles that are not in the list, or have sessions with other rights than the list gives them. */
  readonly retired: ReadonlyArray<MintedRole>
  /** Roles that stay, and have members. */
  readonly shared: ReadonlyArray<MintedRole>
  readonly created: ReadonlyArray<ComputeRole>
  readonly altered: ReadonlyArray<ComputeRole>
}

/** CloudNativePG's role for replicas, which no driver mints. */
const replicas = "streaming_replica"

const isMinted = `rolname !~ '^(pg_|narthex)' AND rolname <> '${replicas}' AND rolname <> current_user`

/** A role that was retired and is not buried yet. */
export interface FormerRole {
  readonly name: string
  readonly oid: number
  readonly active: boolean
}

/** The rows are those of `FormerRole`. */
export const formerRoles = `
    SELECT rolname AS name, oid::int8::float8 AS oid,
      EXISTS (SELECT FROM pg_stat_activity WHERE usesysid = a.oid) AS active
    FROM pg_roles a WHERE rolname ~ '^narthex_former_[0-9]+$'`

/** The rows are those of `MintedRole`. */
export const mintedRolesQuery = `
    SELECT rolname AS name, oid::int8::float8 AS oid,
      ARRAY(SELECT DISTINCT roleid::regrole::text FROM pg_auth_members WHERE member = a.oid ORDER BY 1) AS groups,
      ARRAY(SELECT DISTINCT member::regrole::text FROM pg_auth_members WHERE roleid = a.oid ORDER BY 1) AS members,
      concat_ws(' ', rolcanlogin AND rolinherit
          AND NOT (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls),
        CASE rolconnlimit WHEN ${connectionLimits.read_write} THEN 'read_write'
          WHEN ${connectionLimits.read_only} THEN 'read_only' ELSE rolconnlimit::text END, rolpassword,
        CASE WHEN isfinite(rolvaliduntil)
          THEN to_char(rolvaliduntil AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') ELSE 'infinity' END,
        ARRAY(SELECT setdatabase || ':' || setting FROM pg_db_role_setting, unnest(setconfig) setting
          WHERE setrole = a.oid ORDER BY 1)::text) AS state
    FROM pg_authid a WHERE ${isMinted}`

export const mintedRoles = (sql: PgClient.PgClient) => sql.unsafe<MintedRole>(mintedRolesQuery)

const untilOf = (role: ComputeRole) =>
  Option.match(role.expires_at, { onNone: () => "infinity", onSome: DateTime.formatIso })

const stateOf = (role: ComputeRole) => {
  const found = settings[role.access].map(([name, value]) => `0:${name}=${value}`)
  return `t ${role.access} ${role.verifier} ${untilOf(role)} {${found.join(",")}}`
}

const groupOf = ({ access }: ComputeRole) => (access === "read_write" ? writers : readers)

/** All of a role that `changesTo` compares, as text. */
export const wantedState = (role: ComputeRole) => JSON.stringify([role.role, groupOf(role), stateOf(role)])

/** Compares what a cluster has with the list that it is to have. */
export const changesTo = (present: ReadonlyArray<MintedRole>, roles: ReadonlyArray<ComputeRole>): RoleChanges => {
  const wanted = new Map(roles.map((role) => [role.role, role]))
  const names = new Set(present.map(({ name }) => name))
  const stays = ({ groups, name }: MintedRole) => {
    const role = wanted.get(name)
    if (role === undefined || !groups.includes(groupOf(role))) return false
    const more = groups.filter((group) => group !== groupOf(role))
    // A writer that became a member of another minted role gained nothing. A reader may have gained a right to write.
    return role.access === "read_write" ? more.every((group) => names.has(group)) : more.length === 0
  }
  const kept = present.filter(stays)
  const states = new Map(kept.map(({ name, state }) => [name, state]))
  return {
    retired: present.filter((role) => !stays(role)),
    shared: kept.filter(({ members }) => members.length > 0),
    created: roles.filter(({ role }) => !states.has(role)),
    altered: roles.filter((role) => states.has(role.role) && states.get(role.role) !== stateOf(role))
  }
}

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Takes all rights of the role. Its sessions keep theirs until they end. */
export const retire = Effect.fnUntraced(function* (sql: PgClient.PgClient, role: MintedRole) {
  const name = identifier(role.name)
  yield* sql.unsafe(`ALTER ROLE ${name} WITH NOLOGIN PASSWORD NULL`)
  for (const group of role.groups) yield* sql.unsafe(`REVOKE ${group} FROM ${name}`)
  yield* unshare(sql, role)
  yield* sql.unsafe(`ALTER ROLE ${name} RENAME TO narthex_former_${role.oid}`)
})

/** Ends the memberships in the role. `regrole` has quoted the names. */
export const unshare = (sql: PgClient.PgClient, { members, name }: MintedRole) =>
  Effect.forEach(members, (member) => sql.unsafe(`REVOKE ${identifier(name)} FROM ${member}`), { discard: true })

export const create = Effect.fnUntraced(function* (sql: PgClient.PgClient, role: ComputeRole) {
  yield* sql.unsafe(`CREATE ROLE ${identifier(role.role)} IN ROLE ${groupOf(role)}`)
  yield* alter(sql, role)
})

export const alter = Effect.fnUntraced(function* (sql: PgClient.PgClient, role: ComputeRole) {
  const name = identifier(role.role)
  const [limit] = yield* sql.unsafe<{ readonly sessions: number }>(
    `SELECT ${connectionLimits[role.access]} AS sessions`
  )
  yield* sql.unsafe(`ALTER ROLE ${name} WITH LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
    CONNECTION LIMIT ${limit?.sessions ?? 0} PASSWORD '${role.verifier}' VALID UNTIL '${untilOf(role)}'`)
  yield* sql.unsafe(`ALTER ROLE ${name} RESET ALL`)
  yield* sql.unsafe(`ALTER ROLE ${name} IN DATABASE postgres RESET ALL`)
  for (const [setting, value] of settings[role.access])
    yield* sql.unsafe(`ALTER ROLE ${name} SET ${setting} = '${value}'`)
})

/** Drops the retired roles whose objects are not locked. */
export const bury = Effect.fn("bury")(function* (sql: PgClient.PgClient) {
  const former = yield* sql.unsafe<FormerRole>(formerRoles)
  const outcomes = yield* Effect.forEach(former, ({ name }) =>
    Effect.result(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe("SET LOCAL lock_timeout = '200ms'")
          yield* sql.unsafe(`REASSIGN OWNED BY ${name} TO ${owners}`)
          yield* sql.unsafe(`DROP OWNED BY ${name}`)
          yield* sql.unsafe(`DROP ROLE ${name}`)
        })
      )
    )
  )
  const left = outcomes.filter((outcome) => outcome._tag === "Failure").length
  if (left > 0) yield* Effect.logInfo(`${left} former roles still own objects; they have no rights.`)
})

/** Postgres would take any other text for a password and hash it. */
const verifierForm = /^SCRAM-SHA-256\$\d+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$/

/** Why a role cannot be created. Postgres truncates a name above 63 bytes, so that two names may become one. */
export const refusalOf = ({ role, verifier }: ComputeRole): string | undefined => {
  if (/^(pg_|narthex)/.test(role) || reserved.has(role)) return `The role name ${role} is reserved.`
  if (role === "" || role.includes("\0") || Buffer.byteLength(role) > 63) {
    return "The name of a role must have 1 to 63 bytes."
  }
  return verifierForm.test(verifier) ? undefined : `The verifier of the role ${role} is not one of SCRAM-SHA-256.`
}

const reserved = new Set(["postgres", replicas, "public", "none"])
