/**
 * The lists of the projects seen lately, kept fresh: refreshed about every 30 s in bulk, at once when a change is
 * pushed, and answering from the last known list while the control plane is gone.
 *
 * Pitfall: treating a pushed change as an answer. It is a hint; only a snapshot says what the rules are, and after
 * every reconnect the snapshots are loaded again.
 */
import { Clock, Data, Duration, Effect, Result, Schedule, type Scope, Stream } from "effect"
import { type AllowlistChange, maxAllowlists } from "@narthex/api"
import type { ProjectId } from "@narthex/core"
import { ControlPlane, type ControlPlaneUnreachable } from "./ControlPlane.ts"
import { count } from "../outcomes/AuditTrail.ts"
import { jittered, makeSingleFlight } from "./SingleFlight.ts"
import {
  type Admitted,
  checkAllowlist,
  type Candidate,
  type NotListed,
  type RulesTooOld
} from "../allowlist/checkAllowlist.ts"
import { type Allowlist, compile, covers, lapsedSince, newer } from "../allowlist/Allowlist.ts"

export interface AllowlistCacheSettings {
  readonly refresh: Duration.Duration
  readonly max_stale: Duration.Duration
}

/** No list of the project was ever loaded, so nothing can be checked. */
export class RulesUnknown extends Data.TaggedError("RulesUnknown")<{ readonly project_id: ProjectId }> {}

interface Watched {
  readonly admitted: Admitted
  readonly cut: () => void
}

interface Entry {
  list: Allowlist | undefined
  /** The newest version that a push spoke of. */
  hinted: number
  seen_at: number
  /** Has it been said that the project stays open on a list that is too old? */
  warned: boolean
  readonly watched: Set<Watched>
}

export interface AllowlistCache {
  /** ALLOW: answers from the project's list, loading it first if it was never seen or is known to have changed. */
  readonly check: (candidate: Candidate) => Effect.Effect<Admitted, NotListed | RulesTooOld | RulesUnknown>
  /** Calls `cut` once the rules no longer let the connection be, at once if they already do not. Answers how to stop. */
  readonly watch: (admitted: Admitted, cut: () => void) => () => void
}

const seenLately = Duration.toMillis(Duration.minutes(10))

export const makeAllowlistCache = (
  settings: AllowlistCacheSettings
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
      const entry: Entry = { list: undefined, hinted: 0, seen_at: 0, warned: false, watched: new Set() }
      entries.set(project, entry)
      return entry
    }

    /** Ends the connections that the list no longer lets be. How old the list is plays no part here. */
    const recheck = (entry: Entry) => {
      for (const watched of [...entry.watched])
        if (entry.list === undefined || !covers(entry.list, watched.admitted.peer, monotonic())) watched.cut()
    }

    const loadBatch = Effect.fnUntraced(function* (projects: ReadonlyArray<ProjectId>) {
      const asked_at = monotonic()
      const snapshots = yield* control.allowlists(projects).pipe(Effect.result)
      if (Result.isFailure(snapshots)) {
        if (reachable) yield* Effect.logWarning("allowlists cannot be refreshed: the last known lists count")
        reachable = false
        return yield* snapshots.failure
      }
      if (!reachable) yield* Effect.logInfo("allowlists are refreshed again")
      reachable = true
      const answered = new Set<ProjectId>()
      for (const snapshot of snapshots.success) {
        const list = compile(snapshot, asked_at)
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
        // Left out: the project is gone, and with it every right to its computes.
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

    /** Loads until the list is as new as the last push said; a load under way may have been asked before the change. */
    const catchUp = (project: ProjectId, entry: Entry) =>
      load(project).pipe(
        Effect.repeat({
          while: () => entry.hinted > (entry.list?.version ?? entry.hinted),
          schedule: Schedule.spaced("100 millis"),
          times: 10
        }),
        Effect.ignore
      )

    const pushed = (change: AllowlistChange) => {
      const entry = entries.get(change.project_id)
      if (entry === undefined) return Effect.void
      entry.hinted = Math.max(entry.hinted, change.version)
      return entry.hinted > (entry.list?.version ?? -1)
        ? Effect.forkIn(catchUp(change.project_id, entry), scope)
        : Effect.void
    }

    const check = Effect.fnUntraced(function* (candidate: Candidate) {
      const entry = entryOf(candidate.project_id)
      const lately = monotonic() - entry.seen_at < seenLately
      entry.seen_at = monotonic()
      const { list } = entry
      if (list === undefined || !lately || entry.hinted > list.version || lapsedSince(list, monotonic()))
        yield* load(candidate.project_id).pipe(Effect.timeoutOption("2 seconds"), Effect.ignore)
      if (entry.list === undefined) return yield* new RulesUnknown({ project_id: candidate.project_id })
      if (monotonic() - entry.list.asked_at > maxStale && !entry.list.restricted && !entry.warned) {
        entry.warned = true
        yield* Effect.logWarning("the list is too old, and was empty: the project stays open").pipe(
          Effect.annotateLogs({ project_id: candidate.project_id })
        )
      }
      return yield* Effect.fromResult(checkAllowlist(entry.list, candidate, monotonic(), maxStale))
    })

    const watch = (admitted: Admitted, cut: () => void) => {
      const entry = entryOf(admitted.project_id)
      const watched = { admitted, cut }
      entry.watched.add(watched)
      // The rules may have changed since the check, while nobody watched.
      if (entry.list === undefined || !covers(entry.list, admitted.peer, monotonic())) cut()
      return () => {
        entry.watched.delete(watched)
        entry.seen_at = monotonic()
      }
    }

    const forget = () => {
      for (const [project, entry] of entries)
        if (reachable && entry.watched.size === 0 && monotonic() - entry.seen_at > seenLately) entries.delete(project)
    }

    /** Rules that lapsed end connections now; whether the project opens, only a fresh snapshot can say. */
    const expire = Effect.suspend(() => {
      const lapsed = [...entries].filter(
        ([, entry]) => entry.list !== undefined && lapsedSince(entry.list, monotonic())
      )
      for (const [, entry] of lapsed) recheck(entry)
      const watched = lapsed.filter(([, entry]) => entry.watched.size > 0)
      return Effect.ignore(refresh(watched.map(([project]) => project)))
    })

    const scope = yield* Effect.scope
    yield* Effect.suspend(() => {
      forget()
      return Effect.ignore(refresh([...entries.keys()]))
    }).pipe(Effect.schedule(jittered(settings.refresh)), Effect.forkScoped)
    yield* Effect.forkScoped(Effect.repeat(expire, Schedule.spaced("1 second")))
    yield* Effect.scoped(
      Effect.gen(function* () {
        const changes = yield* control.changes
        yield* Effect.ignore(refresh([...entries.keys()]))
        yield* Stream.runForEach(changes, pushed)
      })
    ).pipe(
      Effect.catch((error) => Effect.logDebug(error.message)),
      Effect.andThen(count("subscription_lost")),
      Effect.repeat(Schedule.jittered(Schedule.spaced("1 second"))),
      Effect.forkScoped
    )
    return { check, watch }
  })
