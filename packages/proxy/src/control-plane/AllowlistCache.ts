/**
 * The allowlists of recently seen projects (docs/design/proxy.md P17 to P19): refreshed in batches about every 30 s, and
 * immediately after a change notification. While the control plane is unreachable the last known lists count.
 *
 * Pitfall: treating a change notification as the new state. It is a hint: only a snapshot holds the rules, and after a
 * reconnect (`followChanges`) all snapshots are loaded again, because notifications may have been missed.
 */
import { type AllowlistChange, maxAllowlists } from "@narthex/api"
import type { ProjectId } from "@narthex/core"
import { Clock, Data, Duration, Effect, Result, Schedule, type Scope } from "effect"
import { type Allowlist, compile, covers, expiredSince, newer } from "../allowlist/Allowlist.ts"
import {
  type Admitted,
  type Candidate,
  checkAllowlist,
  type NotListed,
  type RulesTooOld
} from "../allowlist/checkAllowlist.ts"
import type { ProxyMetrics } from "../outcomes/ProxyMetrics.ts"
import { ControlPlane, type ControlPlaneUnreachable } from "./ControlPlane.ts"
import { jittered, makeSingleFlight } from "./SingleFlight.ts"

export interface AllowlistCacheSettings {
  /** The interval between refreshes. */
  readonly refresh: Duration.Duration
  /** The age up to which a list with rules admits connections. */
  readonly max_stale: Duration.Duration
}

/** No allowlist of the project has been loaded, so the check is impossible. */
export class RulesUnknown extends Data.TaggedError("RulesUnknown")<{ readonly project_id: ProjectId }> {}

interface Watched {
  readonly admitted: Admitted
  readonly cut: () => void
}

interface Entry {
  list: Allowlist | undefined
  /** The newest version of which a notification was received. */
  notified: number
  seen_at: number
  /** Whether the log has a warning that the project stays open on a stale list. */
  warned: boolean
  readonly watched: Set<Watched>
}

export interface AllowlistCache {
  /** ALLOW, where the project's list is known and in force; `undefined` if it has to be loaded first. */
  readonly checkNow: (candidate: Candidate) => Result.Result<Admitted, NotListed | RulesTooOld> | undefined
  /** ALLOW: checks the project's list, which is loaded first if it is unknown, unused for 10 minutes, or outdated. */
  readonly check: (candidate: Candidate) => Effect.Effect<Admitted, NotListed | RulesTooOld | RulesUnknown>
  /** Calls `cut` when the rules no longer admit the connection, which may be immediately. Returns how to stop. */
  readonly watch: (admitted: Admitted, cut: () => void) => () => void
  /** A notification that a list has a new version. Returns once the list is being loaded. */
  readonly changed: (change: AllowlistChange) => Effect.Effect<void>
  /** Loads the lists of all projects again: notifications may have been missed. */
  readonly reload: Effect.Effect<void>
}

/** How long a project that no connection uses is kept fresh, in milliseconds. */
const keepFresh = Duration.toMillis(Duration.minutes(10))

export const makeAllowlistCache = (
  settings: AllowlistCacheSettings,
  metrics: ProxyMetrics
): Effect.Effect<AllowlistCache, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const clock = yield* Clock.Clock
    const flights = yield* makeSingleFlight<void, ControlPlaneUnreachable>()
    const entries = new Map<ProjectId, Entry>()
    const maxStale = Duration.toMillis(settings.max_stale)
    let reachable = true

    const monotonic = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

    const entryOf = (project: ProjectId): Entry => {
      const known = entries.get(project)
      if (known !== undefined) return known
      const entry: Entry = { list: undefined, notified: 0, seen_at: 0, warned: false, watched: new Set() }
      entries.set(project, entry)
      return entry
    }

    /** Cuts the connections that the list no longer admits. The age of the list does not matter here. */
    const recheck = (entry: Entry) => {
      for (const watched of [...entry.watched])
        if (entry.list === undefined || !covers(entry.list, watched.admitted.peer, monotonic())) watched.cut()
    }

    const loadBatch = Effect.fnUntraced(function* (projects: ReadonlyArray<ProjectId>) {
      const requested_at = monotonic()
      const snapshots = yield* control.allowlists(projects).pipe(Effect.result)
      if (Result.isFailure(snapshots)) {
        if (reachable) yield* Effect.logWarning("allowlists cannot be refreshed; the last known lists remain in effect")
        reachable = false
        return yield* snapshots.failure
      }
      if (!reachable) yield* Effect.logInfo("allowlists are being refreshed again")
      reachable = true
      const answered = new Set<ProjectId>()
      for (const snapshot of snapshots.success) {
        const list = compile(snapshot, requested_at)
        if (list === undefined) continue
        answered.add(snapshot.project_id)
        const entry = entryOf(snapshot.project_id)
        entry.list = newer(entry.list, list)
        entry.warned = false
        recheck(entry)
      }
      const mentioned = new Set(snapshots.success.map((snapshot) => snapshot.project_id))
      for (const project of projects) {
        const entry = entries.get(project)
        if (entry === undefined || answered.has(project) || mentioned.has(project)) continue
        // An omitted project is deleted, so no connection to its computes may continue.
        entry.list = undefined
        recheck(entry)
      }
    })

    const refresh = (projects: ReadonlyArray<ProjectId>) =>
      Effect.forEach(
        Array.from({ length: Math.ceil(projects.length / maxAllowlists) }, (_, page) =>
          projects.slice(page * maxAllowlists, (page + 1) * maxAllowlists)
        ),
        loadBatch,
        { discard: true }
      )

    const load = (project: ProjectId) => flights.join(project, loadBatch([project]))

    /** Loads until the list is as new as the last notification. A running load may have been requested before it. */
    const catchUp = (project: ProjectId, entry: Entry) =>
      load(project).pipe(
        Effect.repeat({
          while: () => entry.notified > (entry.list?.version ?? entry.notified),
          schedule: Schedule.spaced("100 millis"),
          times: 10
        }),
        Effect.ignore
      )

    const changed = ({ project_id, version }: AllowlistChange) =>
      Effect.suspend(() => {
        const entry = entries.get(project_id)
        if (entry === undefined) return Effect.void
        entry.notified = Math.max(entry.notified, version)
        return entry.notified > (entry.list?.version ?? -1)
          ? Effect.asVoid(Effect.forkIn(catchUp(project_id, entry), scope))
          : Effect.void
      })

    /** The list of a project that needs not be loaded again. */
    const inForce = ({ list, notified, seen_at }: Entry, now: number): Allowlist | undefined => {
      if (list === undefined || now - seen_at >= keepFresh) return undefined
      return notified > list.version || expiredSince(list, now) ? undefined : list
    }

    /** Whether the log should say that the project stays open on a stale list. */
    const opensUnwarned = ({ warned }: Entry, { requested_at, restricted }: Allowlist, now: number) =>
      now - requested_at > maxStale && !restricted && !warned

    const checkNow: AllowlistCache["checkNow"] = (candidate) => {
      const entry = entryOf(candidate.project_id)
      const now = monotonic()
      const list = inForce(entry, now)
      if (list === undefined || opensUnwarned(entry, list, now)) return undefined
      entry.seen_at = now
      return checkAllowlist(list, candidate, now, maxStale)
    }

    const check = Effect.fnUntraced(function* (candidate: Candidate) {
      const entry = entryOf(candidate.project_id)
      const list = inForce(entry, monotonic())
      entry.seen_at = monotonic()
      if (list === undefined) yield* load(candidate.project_id).pipe(Effect.timeoutOption("2 seconds"), Effect.ignore)
      if (entry.list === undefined) return yield* new RulesUnknown({ project_id: candidate.project_id })
      if (opensUnwarned(entry, entry.list, monotonic())) {
        entry.warned = true
        yield* Effect.logWarning("a stale allowlist has no rules; the project stays open").pipe(
          Effect.annotateLogs({ project_id: candidate.project_id })
        )
      }
      return yield* Effect.fromResult(checkAllowlist(entry.list, candidate, monotonic(), maxStale))
    })

    const watch = (admitted: Admitted, cut: () => void) => {
      const entry = entryOf(admitted.project_id)
      const watched = { admitted, cut }
      entry.watched.add(watched)
      // The rules may have changed between the check and this call.
      if (entry.list === undefined || !covers(entry.list, admitted.peer, monotonic())) cut()
      return () => {
        entry.watched.delete(watched)
        entry.seen_at = monotonic()
      }
    }

    const dropUnused = () => {
      for (const [project, entry] of entries)
        if (reachable && entry.watched.size === 0 && monotonic() - entry.seen_at > keepFresh) entries.delete(project)
    }

    /** Cuts the connections of expired rules. Only a fresh snapshot may open the project, so it is requested. */
    const expire = Effect.suspend(() => {
      const expired = [...entries].filter(
        ([, entry]) => entry.list !== undefined && expiredSince(entry.list, monotonic())
      )
      for (const [, entry] of expired) recheck(entry)
      const watched = expired.filter(([, entry]) => entry.watched.size > 0)
      return Effect.ignore(refresh(watched.map(([project]) => project)))
    })

    const scope = yield* Effect.scope
    const reload = Effect.suspend(() => Effect.ignore(refresh([...entries.keys()])))
    const measureAge = Effect.sync(() => {
      const asked = [...entries.values()].flatMap(({ list }) => (list === undefined ? [] : [list.requested_at]))
      metrics.allowlistAge(asked.length === 0 ? 0 : monotonic() - Math.min(...asked))
    })
    yield* Effect.suspend(() => {
      dropUnused()
      return Effect.andThen(reload, measureAge)
    }).pipe(Effect.schedule(jittered(settings.refresh)), Effect.forkScoped)
    yield* Effect.forkScoped(Effect.repeat(expire, Schedule.spaced("1 second")))
    return { checkNow, check, watch, changed, reload }
  })
