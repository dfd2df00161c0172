/**
 * Makes the minted roles of a running cluster match a list exactly, against sessions that resist it.
 *
 * The order: sessions of the roles that have to go end, the roles lose all rights in one transaction, and sessions that
 * began before it end. Only then are roles created. A second session watches what the statements wait for and ends the
 * sessions of users that hold it. The caller sets the time for all of that (`within`) and stops the server when it is
 * not enough.
 *
 * Pitfall: changing the catalog first. A role may hold its own row, by an open `ALTER ROLE` on itself.
 * Pitfall: awaiting the end of the sessions of the roles that were found minted. Roles that an earlier call retired
 * before it failed are minted no more, and their sessions still have their rights.
 * Pitfall: taking `pg_stat_activity` for all sessions. A login that has passed the check of the role is not in it yet.
 */
import type { PgClient } from "@effect/sql-pg"
import type { ComputeRole } from "@narthex/core"
import { Clock, type Duration, Effect, Fiber, Schedule, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { endsWithin } from "./endsWithin.ts"
import { loginsUnderWay, loginsWithin } from "./loginsUnderWay.ts"
import {
  alter,
  bury,
  changesTo,
  create,
  type FormerRole,
  formerRoles,
  mintedRoles,
  refusalOf,
  retire,
  unshare
} from "./MintedRoles.ts"
import { isPrepared, prepareAccess } from "./RoleGroups.ts"
import { shareObjects } from "./SharedObjects.ts"
import { type AsSuperuser, RoleWorkFailed, type SessionFailure, sqlstateOf } from "./SuperuserSession.ts"
import { withdrawable, withdrawSome } from "./Withdrawals.ts"

/** The list has a role that no server can have. */
export class RoleRefused extends Schema.TaggedError<RoleRefused>()("RoleRefused", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** The list was not applied. `revokes`: a role that has to go, or may have to, still has rights. */
export class RolesNotApplied extends Schema.TaggedError<RolesNotApplied>()("RolesNotApplied", {
  reason: Schema.String,
  sqlstate: Schema.optional(Schema.String),
  busy: Schema.optional(Schema.Boolean),
  revokes: Schema.Boolean
}) {
  override get message() {
    return this.reason
  }
}

export interface RolesToApply {
  readonly roles: ReadonlyArray<ComputeRole>
  /** How long a revocation may take. Dropping roles that have no rights any more is not counted. */
  readonly within: Duration.Duration
  /** How much longer it may take when no right ends. */
  readonly patience: Duration.Duration
  /** Whether the cluster may lack the groups and privileges of `prepareAccess`, as at the start of the server. */
  readonly prepares: boolean
  /** Whether the list can lack a role that the cluster has, as long as the cluster has not been asked. */
  readonly mayRevoke: boolean
}

export const applyRoles = Effect.fn("applyRoles")(function* <F extends SessionFailure>(
  asSuperuser: AsSuperuser<F>,
  wanted: RolesToApply
) {
  const { mayRevoke, prepares, roles } = wanted
  for (const role of roles) {
    const reason = refusalOf(role)
    if (reason !== undefined) return yield* new RoleRefused({ reason })
  }
  let revokes = mayRevoke
  const rights = asSuperuser((sql) =>
    Effect.gen(function* () {
      const changes = changesTo(yield* mintedRoles(sql), roles)
      const former = yield* sql.unsafe<FormerRole>(formerRoles)
      revokes = changes.retired.length > 0 || former.some(({ active }) => active)
      const [session] = yield* sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
      const change = Effect.gen(function* () {
        if (prepares || !(yield* isPrepared(sql))) yield* contended(prepareAccess(sql))
        const oids = [...changes.retired, ...former].map(({ oid }) => oid)
        yield* endSessionsOf(sql, oids)
        const retirement = Effect.gen(function* () {
          yield* Effect.forEach(changes.retired, (role) => retire(sql, role), { discard: true })
          yield* Effect.forEach(changes.shared, (role) => unshare(sql, role), { discard: true })
        })
        yield* contended(sql.withTransaction(retirement))
        if (oids.length > 0) yield* awaitEnd(sql, oids)
        yield* withdrawWrites(sql)
        revokes = false
        const roleChanges = Effect.gen(function* () {
          yield* Effect.forEach(changes.created, (role) => create(sql, role), { discard: true })
          yield* Effect.forEach(changes.altered, (role) => alter(sql, role), { discard: true })
        })
        yield* contended(sql.withTransaction(roleChanges))
      })
      yield* Effect.raceFirst(change, endBlockers(asSuperuser, session?.pid ?? 0))
    })
  )
  yield* inTime(rights, wanted, () => revokes).pipe(
    Effect.mapError((error: SessionFailure) => {
      const { busy, message, sqlstate } = error
      return new RolesNotApplied({ reason: message, sqlstate, busy, revokes })
    })
  )
  // The remaining roles have no rights. The next call continues.
  yield* asSuperuser((sql) => Effect.andThen(bury(sql), shareObjects(sql)), patient).pipe(
    Effect.timeout(wanted.patience),
    Effect.catch((error) =>
      Effect.logWarning("Former roles could not be dropped, or objects of users not be shared.", error)
    )
  )
})

const patient = { statement_timeout: "60s", lock_timeout: "200ms" }

/**
 * Fails when the time of `wanted` is over. The effect is interrupted and not awaited: the end of a query on a server
 * that does not react takes longer than that.
 */
const inTime = <A, F>(effect: Effect.Effect<A, F>, { patience, within }: RolesToApply, revokes: () => boolean) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(effect)
    const late = Effect.gen(function* () {
      yield* Effect.sleep(within)
      if (!revokes()) yield* Effect.sleep(patience)
      return yield* new RoleWorkFailed({ reason: "The roles were not applied in time.", busy: true })
    })
    return yield* Effect.raceFirst(Fiber.join(fiber), late).pipe(
      Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe())),
      // A call that takes the branch over must not meet a commit of this one.
      Effect.onInterrupt(() => endsWithin(fiber, interruptedWithin))
    )
  })

/** Milliseconds. The cancellation of a query takes at most about that long. */
const interruptedWithin = 6_000

/** Repeats what failed because another session was at the same rows, until the caller's time is over. */
const contended = <A, R>(effect: Effect.Effect<A, SqlError.SqlError, R>) =>
  Effect.retry(effect, { while: isContention, schedule: Schedule.spaced("20 millis") })

/**
 * Revokes every right to write that PUBLIC or a role outside the group of writers has. A compute has no address before it, at a start.
 *
 * Pitfall: one transaction for all. With 26,000 objects it runs out of locks, each time, and the branch would never start again.
 */
const withdrawWrites = Effect.fn("withdrawWrites")(function* (sql: PgClient.PgClient) {
  let left = yield* contended(withdrawable(sql))
  while (left > 0) {
    yield* contended(withdrawSome(sql))
    const still = yield* contended(withdrawable(sql))
    if (still >= left) return yield* new RoleWorkFailed({ reason: `${still} rights to write cannot be withdrawn.` })
    left = still
  }
})

/** Lock and statement time-outs, deadlocks, and a row that another session has changed since it was read. */
const isContention = (error: SqlError.SqlError) => {
  const state = sqlstateOf(error)
  return (
    ["55P03", "57014", "40P01", "40001"].includes(state ?? "") ||
    (state === "XX000" && /concurrently/.test(describe(error)))
  )
}

const describe = ({ reason: { cause } }: SqlError.SqlError) => (cause instanceof Error ? cause.message : "")

const oidList = (oids: ReadonlyArray<number>) => oids.join(", ")

const endSessionsOf = (sql: PgClient.PgClient, oids: ReadonlyArray<number>) =>
  oids.length === 0
    ? Effect.succeed([])
    : sql.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usesysid IN (${oidList(oids)})`)

/**
 * Waits until no session of the roles is left. It runs after the roles have lost their login, so no new one can begin.
 *
 * All logins that are under way at the beginning have to be over: within `loginsWithin` by themselves, then they are
 * ended.
 */
const awaitEnd = Effect.fnUntraced(function* (sql: PgClient.PgClient, oids: ReadonlyArray<number>) {
  const underWay = (pids?: ReadonlyArray<number>) => sql.unsafe<{ readonly pid: number }>(loginsUnderWay(pids))
  const logins = (yield* underWay()).map(({ pid }) => pid)
  const begun = yield* Clock.currentTimeMillis
  while (true) {
    const waiting = logins.length === 0 ? [] : yield* underWay(logins)
    const sessions = yield* endSessionsOf(sql, oids)
    if (waiting.length === 0 && sessions.length === 0) return
    if ((yield* Clock.currentTimeMillis) - begun > loginsWithin) {
      yield* Effect.forEach(waiting, ({ pid }) => sql`SELECT pg_terminate_backend(${pid}::int)`)
    }
    yield* Effect.sleep(5)
  }
})

/** Ends the users' sessions that hold what the session with this pid waits for, as long as it runs. */
const endBlockers = <F extends SessionFailure>(asSuperuser: AsSuperuser<F>, pid: number) =>
  asSuperuser((sql) => {
    const look = sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid = ANY (pg_blocking_pids(${pid}::int)) AND usename <> current_user`
    return Effect.forever(Effect.delay(look, "20 millis"))
  }).pipe(Effect.delay("50 millis"), Effect.retry(Schedule.spaced("50 millis")))
