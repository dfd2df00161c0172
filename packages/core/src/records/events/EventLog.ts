/**
 * Port: the durable, totally ordered log of all events, kept for the retention time (docs/design/events.md E12–E17).
 *
 * `append` is for the transaction port alone, as the last step before its commit: that is what makes the order
 * causal. Ids and positions exist only once an event is sequenced, which is after the commit; readers see
 * dense positions, so `pos > cursor` never skips anything. (Trimming leaves holes at the low end.)
 *
 * `layerMemory` is the reference implementation. The contract that every adapter must meet is executable:
 * `eventLogContract` of `@narthex/core/testing`.
 */
import { Chunk, Clock, Context, DateTime, Effect, HashMap, Layer, Option, PubSub, Random, Stream } from "effect"
import type { OrgId, ProjectId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { EmittedEvent, LoggedEvent } from "./Envelope.ts"
import { makeEventId, noEvent } from "./EventId.ts"

/**
 * The newest client-visible events of an organization, ascending, and behind them its newest event where that is an
 * internal one. No visible event between `floor` and the first of them is missing.
 */
export interface EventWindow {
  readonly events: ReadonlyArray<LoggedEvent>
  readonly floor: Option.Option<string>
}

export interface HistoryRange {
  readonly after: string
  /** `null`: up to the newest event. */
  readonly before: string | null
}

export interface HistoryPage {
  readonly events: ReadonlyArray<LoggedEvent>
  /** The oldest id still kept in this scope. */
  readonly oldest_id: Option.Option<string>
  /** `false`: events after `after` were trimmed, and the page starts at the oldest one that is kept. */
  readonly complete: boolean
  /** Whether more events follow in the order of the page. */
  readonly more: boolean
}

export class EventLog extends Context.Service<
  EventLog,
  {
    /** Hands events to the log within the running transaction, in this order. Only `Transaction` calls it. */
    readonly append: (events: ReadonlyArray<EmittedEvent>) => Effect.Effect<void, StorageError>
    /** Gives committed events their ids: `more` when some may be left, `busy` when another instance is sequencing. */
    readonly sequence: Effect.Effect<"idle" | "busy" | "more", StorageError>
    /** Position and id of the newest event of all organizations. */
    readonly head: Effect.Effect<{ readonly pos: number; readonly id: string }, StorageError>
    /**
     * The organization's newest id, or its newest up to `upTo`; without such events the id up to which the log was
     * trimmed, else `noEvent`. A position that is newer than the answer for it is not in the log.
     */
    readonly headOf: (org: OrgId, upTo?: string) => Effect.Effect<string, StorageError>
    /** Events after a position, ascending, internal ones included. */
    readonly tail: (after: number, limit: number) => Effect.Effect<ReadonlyArray<LoggedEvent>, StorageError>
    /** A window with `cap` visible events, if the log has as many. */
    readonly window: (org: OrgId, cap: number) => Effect.Effect<EventWindow, StorageError>
    /** Whether the scope has a client-visible event with `after < id <= upTo`. Trimmed ones count as present. */
    readonly scopeHasBetween: (
      org: OrgId,
      project: ProjectId | null,
      after: string,
      upTo: string
    ) => Effect.Effect<boolean, StorageError>
    /** Client-visible events after an id, ascending. */
    readonly history: (
      org: OrgId,
      project: ProjectId | null,
      after: string,
      limit: number
    ) => Effect.Effect<HistoryPage, StorageError>
    /** Client-visible events with `after < id < before`, newest first. `before` `null`: from the newest on. */
    readonly newest: (
      org: OrgId,
      project: ProjectId | null,
      range: HistoryRange,
      limit: number
    ) => Effect.Effect<HistoryPage, StorageError>
    /** Hints that there may be new events with ids; readers poll as well. */
    readonly wakeups: Stream.Stream<void>
    /** Sends this instance's readers such a hint. `Transaction` does it after a commit, once its events have ids. */
    readonly wake: Effect.Effect<void>
    /** Removes events from before an instant, except the newest `keep` of each organization. Returns how many. */
    readonly trim: (before: DateTime.Utc, keep: number) => Effect.Effect<number, StorageError>
  }
>()("@narthex/core/records/events/EventLog") {
  /** On `MemoryStorage`: writers take turns there, so ids are given at once and in the order of commits. */
  static readonly layerMemory: Layer.Layer<EventLog, never, MemoryStorage> = Layer.effect(
    EventLog,
    Effect.flatMap(MemoryStorage, (storage) => makeMemory(storage))
  )
}

/*
 * The log in memory: the reference for what the port means; speed is not its purpose. The whole log is one row of
 * `MemoryStorage`, so it commits and rolls back with everything else. Its sequences are persistent: a draft shares all
 * but its end with what is committed.
 */

interface OrgLog {
  readonly events: Chunk.Chunk<LoggedEvent>
  /** The newest trimmed id. */
  readonly trimmed: string
}

interface Log {
  readonly pos: number
  readonly id: string
  readonly ms: number
  readonly r40: number
  readonly c32: number
  readonly events: Chunk.Chunk<LoggedEvent>
  readonly orgs: HashMap.HashMap<OrgId, OrgLog>
}

const emptyOrg: OrgLog = { events: Chunk.empty(), trimmed: noEvent }
const emptyLog: Log = { pos: 0, id: noEvent, ms: 0, r40: 0, c32: 0, events: Chunk.empty(), orgs: HashMap.empty() }

/** How many of these ascending events come before the first that is past the mark. */
const countUpTo = (events: Chunk.Chunk<LoggedEvent>, past: (event: LoggedEvent) => boolean) => {
  let low = 0
  let high = Chunk.size(events)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (past(Chunk.getUnsafe(events, middle))) high = middle
    else low = middle + 1
  }
  return low
}

const after = (events: Chunk.Chunk<LoggedEvent>, id: string) =>
  Chunk.drop(
    events,
    countUpTo(events, (event) => event.id > id)
  )

const orgOf = (log: Pick<Log, "orgs">, org: OrgId) => Option.getOrElse(HashMap.get(log.orgs, org), () => emptyOrg)

const visible = (project: ProjectId | null) => (event: LoggedEvent) =>
  !event.internal && (project === null || event.project_id === project)

/** A page of the events in the range. `take` takes at most so many of them, in the order of the page. */
const pageOf = (
  { events, trimmed }: OrgLog,
  project: ProjectId | null,
  range: HistoryRange,
  limit: number,
  take: (found: Chunk.Chunk<LoggedEvent>, count: number) => Chunk.Chunk<LoggedEvent>
): HistoryPage => {
  const { before } = range
  const found = Chunk.filter(
    after(events, range.after),
    (event) => visible(project)(event) && (before === null || event.id < before)
  )
  return {
    events: Chunk.toReadonlyArray(take(found, limit)),
    oldest_id: Option.map(Chunk.findFirst(events, visible(project)), (event) => event.id),
    complete: range.after >= trimmed,
    more: Chunk.size(found) > limit
  }
}

/** The newest id, up to `upTo` if given, else the newest trimmed id. */
const lastOf = ({ events, trimmed }: OrgLog, upTo?: string) => {
  const count = upTo === undefined ? Chunk.size(events) : countUpTo(events, (event) => event.id > upTo)
  return Option.match(Chunk.get(events, count - 1), { onNone: () => trimmed, onSome: (event) => event.id })
}

const appended = (log: Log, events: ReadonlyArray<EmittedEvent>, now: number, random: number): Log => {
  const fresh = now > log.ms
  const ms = fresh ? now : log.ms // the clock stood still or went back: ids continue in the last millisecond
  const r40 = fresh ? random : log.r40
  const first = fresh ? 1 : log.c32 + 1
  const added = events.map(
    (event, index): LoggedEvent => ({ ...event, pos: log.pos + 1 + index, id: makeEventId(ms, r40, first + index) })
  )
  return {
    pos: log.pos + added.length,
    id: added.at(-1)?.id ?? log.id,
    ms,
    r40,
    c32: first + added.length - 1,
    events: Chunk.appendAll(log.events, Chunk.fromIterable(added)),
    orgs: added.reduce((orgs, event) => {
      const org = orgOf({ orgs }, event.org_id)
      return HashMap.set(orgs, event.org_id, { ...org, events: Chunk.append(org.events, event) })
    }, log.orgs)
  }
}

const trimmed = (log: Log, before: DateTime.Utc, keep: number): Log => {
  const orgs = HashMap.map(log.orgs, (org): OrgLog => {
    const spare = Math.max(0, Chunk.size(org.events) - keep)
    const old = countUpTo(org.events, (event) => DateTime.isGreaterThanOrEqualTo(event.at, before))
    const gone = Chunk.take(org.events, Math.min(spare, old))
    return Option.match(Chunk.last(gone), {
      onNone: () => org,
      onSome: ({ id }) => ({ trimmed: id, events: Chunk.drop(org.events, Chunk.size(gone)) })
    })
  })
  const next = { ...log, orgs }
  return { ...next, events: Chunk.filter(log.events, (event) => event.id > orgOf(next, event.org_id).trimmed) }
}

const makeMemory = (storage: MemoryStorage["Service"]): Effect.Effect<EventLog["Service"]> =>
  Effect.gen(function* () {
    const table = storage.table<Log>("event_log")
    const hints = yield* PubSub.sliding<void>(1)
    const log = Effect.map(
      table.get("log"),
      Option.getOrElse(() => emptyLog)
    )
    const change = <A>(step: (log: Log) => readonly [answer: A, log: Log]) =>
      table.modify((rows) => {
        const [answer, next] = step(rows[0] ?? emptyLog)
        return [answer, [["log", next]]]
      })

    return {
      append: (events) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const random = yield* Random.nextIntBetween(0, 2 ** 40 - 1)
          yield* change((before) => [undefined, appended(before, events, now, random)])
        }),
      sequence: Effect.succeed("idle"),
      head: Effect.map(log, ({ id, pos }) => ({ id, pos })),
      headOf: (org, upTo) => Effect.map(log, (all) => lastOf(orgOf(all, org), upTo)),
      tail: (from, limit) =>
        Effect.map(log, ({ events }) => {
          const count = countUpTo(events, (event) => event.pos > from)
          return Chunk.toReadonlyArray(Chunk.take(Chunk.drop(events, count), limit))
        }),
      window: (org, cap) =>
        Effect.map(log, (all) => {
          const { events, trimmed } = orgOf(all, org)
          const seen = Chunk.filter(events, visible(null))
          const older = Chunk.last(Chunk.dropRight(seen, Math.min(cap, Chunk.size(seen))))
          const belowWindow = trimmed === noEvent ? Option.none() : Option.some(trimmed)
          const head = Chunk.filter(Chunk.takeRight(events, 1), (event) => event.internal)
          return {
            events: Chunk.toReadonlyArray(Chunk.appendAll(Chunk.takeRight(seen, cap), head)),
            floor: Option.orElse(
              Option.map(older, (event) => event.id),
              () => belowWindow
            )
          }
        }),
      scopeHasBetween: (org, project, from, upTo) =>
        Effect.map(log, (all) => {
          const { events, trimmed } = orgOf(all, org)
          if (from >= upTo) return false
          return (
            from < trimmed || Chunk.some(after(events, from), (event) => event.id <= upTo && visible(project)(event))
          )
        }),
      history: (org, project, from, limit) =>
        Effect.map(log, (all) => pageOf(orgOf(all, org), project, { after: from, before: null }, limit, Chunk.take)),
      newest: (org, project, range, limit) =>
        Effect.map(log, (all) =>
          pageOf(orgOf(all, org), project, range, limit, (found, count) => Chunk.reverse(Chunk.takeRight(found, count)))
        ),
      wakeups: Stream.fromPubSub(hints),
      wake: Effect.asVoid(PubSub.publish(hints, undefined)),
      trim: (before, keep) =>
        change((all) => {
          const rest = trimmed(all, before, keep)
          return [Chunk.size(all.events) - Chunk.size(rest.events), rest]
        })
    }
  })
