/**
 * The minted roles of a Postgres server that the operator runs, over the operator's admin URL. The rules are those of
 * local computes (docs/design/proxy.md P24): sessions of a role that has to go end first, then its rights, then it is
 * dropped; a role has rights by its group alone and cannot extend them. Rights that it gave PUBLIC end too.
 *
 * A role is minted if it belongs to one of the two groups. All other roles are the operator's and stay as they are.
 *
 * Pitfall: counting on the role to stay out of the way. It may hold locks on its own row, so every statement has a short
 * `lock_timeout`, and the sessions of minted roles that block it end before it is tried again.
 */
import {
  isRestricted,
  loginsUnderWay,
  loginsWithin,
  missingReadsOf,
  readers,
  readingBatch,
  withdrawalsOf,
  writers
} from "@narthex/compute-roles"
import { type ComputeFailed, type ComputeRole, StorageError } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Clock, Effect, type Redacted, Schedule } from "effect"
import { ask, onServer, together } from "./adminSession.ts"
import { missingDefaults } from "./staticDefaults.ts"
import { groupOf, groups, identifier, put } from "./staticRole.ts"

/** Former roles that own objects that another session holds; they have no rights. */
const formerForm = "^narthex_former_[0-9]+$"

/** Whether a row `r` of `pg_roles` was not minted and is none of the groups. */
const isOperators = `rolname not in ${groups} and (rolname = current_user or not exists (
  select from pg_auth_members where member = r.oid and roleid in (select oid from pg_roles where rolname in ${groups})))`

/**
 * The groups and what they may do. Functions that write or lock without a right are no longer executable by PUBLIC; the
 * operator's roles keep them.
 */
const prepare = `
do $$
declare
  it record;
begin
  if to_regrole('${writers}') is null then create role ${writers} nologin; end if;
  if to_regrole('${readers}') is null then create role ${readers} nologin; end if;
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to ${readers}', current_database());
  execute format('grant connect, create, temporary on database %I to ${writers}', current_database());
  if to_regnamespace('public') is not null then
    revoke create on schema public from public;
    grant usage, create on schema public to ${writers};
  end if;
  if (select rolsuper from pg_roles where rolname = current_user) then
    for it in select oid::regprocedure as restricted from pg_proc
      where ${isRestricted} and has_function_privilege('public', oid, 'execute')
    loop
      execute format('revoke execute on function %s from public', it.restricted);
      execute format('grant execute on function %s to %s', it.restricted, (
        select string_agg(quote_ident(rolname), ', ') from pg_roles r
        where rolname = '${writers}' or (${isOperators} and not rolsuper and rolname !~ '^pg_')));
    end loop;
  end if;
end $$`

/** Whether this is the owner of objects of minted roles or of their group: what others own is the operator's. */
const isMinted = (owner: string) => `${owner} IN (
  SELECT oid FROM pg_roles r
  WHERE rolname = '${writers}' OR rolname ~ '${formerForm}' OR NOT (${isOperators}) AND NOT rolsuper)`

const withdrawals = withdrawalsOf(isMinted, writers)
const missingReads = `${missingReadsOf({ counts: isMinted, publicTo: readers })} UNION ALL ${missingDefaults}`

/** How many statements one transaction executes: each holds a lock until its end. */
const batch = 1_000

/** Executes the first of these statements, but for those for which an admin that is no superuser lacks the right. */
const carefully = (statements: string, most: string = String(batch)) => `
do $do$
declare
  it text;
begin
  for it in select statement from (${statements}) found limit ${most} loop
    begin
      execute it;
    exception when insufficient_privilege then
      null;
    end;
  end loop;
end $do$`

interface Minted {
  readonly name: string
  readonly oid: number
  readonly groups: ReadonlyArray<string>
}

const minted = `
select rolname as name, oid::int8::float8 as oid,
  array(select roleid::regrole::text from pg_auth_members where member = it.oid and roleid::regrole::text in ${groups}
    order by 1) as groups
from pg_roles it
where rolname not in ${groups} and rolname <> current_user and not rolsuper and exists (
  select from pg_auth_members where member = it.oid and roleid in (select oid from pg_roles where rolname in ${groups}))
order by rolname collate "C"`

const present = ask<Minted>("StaticRoles.minted", minted)

/** Ends sessions of these roles, and returns how many there were. */
const endSessions = Effect.fnUntraced(function* (oids: ReadonlyArray<number>) {
  const ended = yield* ask(
    "StaticRoles.endSessions",
    "select pg_terminate_backend(pid) from pg_stat_activity where usesysid::int8 = any ($1::int8[])",
    [oids]
  )
  return ended.length
})

/** Only a superuser may end a backend without a role. Backends of other databases are the operator's. */
const endLogins = `
select pg_terminate_backend(l.pid) from unnest($1::int[]) l (pid) left join pg_stat_activity a using (pid)
where (a.datid is null or a.datname = current_database())
  and (select rolsuper from pg_roles where rolname = current_user)`

/**
 * Waits until the roles, which have lost their login, have no session. Logins that take long are ended where the admin may
 * do so, and awaited elsewhere.
 */
const awaitEnd = Effect.fnUntraced(function* (oids: ReadonlyArray<number>) {
  const underWay = (pids?: ReadonlyArray<number>) =>
    Effect.map(ask<{ readonly pid: number }>("StaticRoles.logins", loginsUnderWay(pids)), (rows) =>
      rows.map(({ pid }) => pid)
    )
  const logins = yield* underWay()
  const begun = yield* Clock.currentTimeMillis
  while (true) {
    const waiting = logins.length === 0 ? [] : yield* underWay(logins)
    if ((yield* endSessions(oids)) === 0 && waiting.length === 0) return
    if ((yield* Clock.currentTimeMillis) - begun > loginsWithin)
      yield* ask("StaticRoles.endLogins", endLogins, [waiting])
    yield* Effect.sleep("20 millis")
  }
})

const retire = ({ groups: member, name, oid }: Minted): ReadonlyArray<string> => [
  `alter role ${identifier(name)} with nologin password null`,
  ...member.map((group) => `revoke ${group} from ${identifier(name)}`),
  `alter role ${identifier(name)} rename to narthex_former_${oid}`
]

const former = ask<Pick<Minted, "name" | "oid">>(
  "StaticRoles.former",
  `select rolname as name, oid::int8::float8 as oid from pg_roles where rolname ~ '${formerForm}'`
)

/** Batch by batch. Where a batch changes nothing, because the admin lacks the rights, all are tried in one. */
const withdrawAll = Effect.gen(function* () {
  const withdrawable = Effect.map(
    ask<{ readonly n: number }>("StaticRoles.withdrawable", `select count(*)::int as n from (${withdrawals}) found`),
    ([found]) => found?.n ?? 0
  )
  let left = yield* withdrawable
  while (left > 0) {
    yield* together([carefully(withdrawals)])
    const still = yield* withdrawable
    if (still >= left) return yield* together([carefully(withdrawals, "all")])
    left = still
  }
})

/** Drops former roles. A role that cannot be dropped now is tried again with the next change. */
const bury = Effect.gen(function* () {
  for (const { name } of yield* former)
    yield* Effect.ignore(
      together([`reassign owned by ${name} to ${writers}`, `drop owned by ${name}`, `drop role ${name}`])
    )
})

/** The time of a call is for its roles. Batches that were committed are not made again. */
const readingWithin = "3 seconds"

/** As on local computes: what a session holds locked is left to the next call. */
const giveReading = Effect.gen(function* () {
  const missing = Effect.map(
    ask<{ readonly n: number }>("StaticRoles.unread", `select count(*)::int as n from (${missingReads}) found`),
    ([found]) => found?.n ?? 0
  )
  let left = yield* missing
  while (left > 0) {
    yield* ask("StaticRoles.read", readingBatch(missingReads))
    const still = yield* missing
    if (still >= left) return yield* Effect.logWarning(`${still} grants that let readers read could not be made.`)
    left = still
  }
}).pipe(
  Effect.timeout(readingWithin),
  Effect.catch((error) => Effect.logWarning("New objects could not be made readable.", error))
)

/** Serializes what control planes put on a server. */
const putLock = "select pg_advisory_xact_lock(7316904414)::text"

const leftOver = new StorageError({ operation: "StaticRoles.put", cause: "A late call has put a role that has to go." })

/**
 * `confirm` fails in a call that a later one has overtaken. It is asked directly before roles are put and under the lock
 * that serializes this. Else a process that paused could put a role that was revoked after it had read its list.
 */
const apply = Effect.fnUntraced(function* (
  roles: ReadonlyArray<ComputeRole>,
  confirm: Effect.Effect<void, ComputeFailed>
) {
  const { transaction } = yield* Database
  const wanted = new Map(roles.map((role) => [role.role, role]))
  const change = Effect.gen(function* () {
    const all = yield* present
    const stays = ({ groups: member, name }: Minted) => {
      const role = wanted.get(name)
      return role !== undefined && member.length === 1 && member[0] === groupOf(role)
    }
    const gone = all.filter((role) => !stays(role))
    // Roles that a failed try retired are no longer minted, and may have sessions.
    const oids = [...gone, ...(yield* former)].map(({ oid }) => oid)
    yield* endSessions(oids)
    yield* Effect.forEach(gone, (role) => together(retire(role)), { discard: true })
    if (oids.length > 0) yield* awaitEnd(oids)
    yield* withdrawAll
    const kept = new Set(all.filter(stays).map(({ name }) => name))
    const putting = Effect.gen(function* () {
      yield* together([putLock])
      yield* confirm
      if (!(yield* present).every(stays)) return yield* leftOver
      yield* together(roles.flatMap((role) => put(role, kept.has(role.role))))
    })
    yield* transaction(putting)
  })
  const ended = Effect.flatMap(present, (all) => endSessions(all.map(({ oid }) => oid)))
  yield* together([prepare])
  // A lock that was not free is held by a session of a minted role: all of them end, and then nothing holds it.
  yield* change.pipe(
    Effect.tapError((error) => (error._tag === "StorageError" ? ended : Effect.void)),
    Effect.retry({ schedule: Schedule.spaced("50 millis"), while: ({ _tag }) => _tag === "StorageError" })
  )
  yield* bury
  yield* giveReading
})

/** Other roles than these, rights that can be taken away, or objects that can be made readable. */
const differs = Effect.fnUntraced(function* (roles: ReadonlyArray<ComputeRole>) {
  const names = (yield* present).map(({ name }) => name)
  if (
    names.toSorted().join() !==
    roles
      .map(({ role }) => role)
      .toSorted()
      .join()
  )
    return true
  const [rights] = yield* ask<{ readonly open: boolean }>(
    "StaticRoles.rights",
    `select exists (select from (${withdrawals}) found) or exists (select from (${missingReads}) found) as open
     from pg_roles where rolname = current_user and rolsuper`
  )
  return rights?.open === true
})

/** Makes the minted roles of the server exactly these. Callers bound the time and check the roles (`refusalOf`). */
export const applyStaticRoles = (
  url: Redacted.Redacted,
  roles: ReadonlyArray<ComputeRole>,
  confirm: Effect.Effect<void, ComputeFailed>
) => onServer(url, apply(roles, confirm))

/** Whether `applyStaticRoles` with these roles would change which roles there are, or end a right. */
export const needsStaticRoles = (url: Redacted.Redacted, roles: ReadonlyArray<ComputeRole>) =>
  onServer(url, differs(roles))

/** Ends the sessions of all minted roles. */
export const endStaticSessions = (url: Redacted.Redacted) =>
  onServer(
    url,
    Effect.flatMap(present, (all) => endSessions(all.map(({ oid }) => oid)))
  )
