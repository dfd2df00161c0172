/**
 * `EventLog` on Postgres: outbox, sequencing function, log, and a floor for each organization
 * (`migrations/0008_events.ts`).
 *
 * Pitfall: calling `sequence` inside a transaction. It holds the row of the head until the commit, so no other instance
 * can sequence.
 */
import {
  EventData,
  EventLog,
  eventIdFromUuid,
  eventIdToUuid,
  type HistoryPage,
  type LoggedEvent,
  noEvent,
  OrgId,
  ProjectId,
  RegionId,
  type StorageError
} from "@narthex/core"
import { Clock, DateTime, Effect, Layer, Option, PubSub, Schema, Stream } from "effect"
import { Database } from "../database/Database.ts"
import { json, reading } from "../database/tableOf.ts"
import * as queries from "./eventQueries.ts"
import { makeLogHealth } from "./logHealth.ts"

/** The most events that one call of the sequencing function moves. */
const batch = 500

const EventRow = Schema.Struct({
  pos: Schema.Int,
  id: Schema.String,
  org_id: OrgId,
  project_id: Schema.NullOr(ProjectId),
  type: Schema.String,
  source: Schema.String,
  region_id: RegionId,
  at: Schema.DateTimeUtcFromString,
  internal: Schema.Boolean,
  data: EventData
})

/** A row of the left join of a floor and its events: `pos` is null when there is no event. */
interface FloorRow {
  readonly pos: number | null
  readonly floor: string | null
}

const eventOf = (row: typeof EventRow.Type): LoggedEvent => ({ ...row, id: eventIdFromUuid(row.id) })

const idOf = (uuid: string | null | undefined) => Option.map(Option.fromNullishOr(uuid), eventIdFromUuid)

/** An id above that of every event. */
const beyondEveryEvent = `7${"Z".repeat(25)}`

interface Scope {
  readonly floor: Option.Option<string>
  readonly oldest_id: Option.Option<string>
}

/** `events` has one more than the limit when there are more. */
const historyPage = (
  events: ReadonlyArray<LoggedEvent>,
  after: string,
  limit: number,
  { floor, oldest_id }: Scope
): HistoryPage => ({
  events: events.slice(0, limit),
  oldest_id,
  complete: !Option.exists(floor, (id) => after < id),
  more: events.length > limit
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const { query } = database
  const events = reading(database, EventRow)
  const hints = yield* PubSub.sliding<void>(1)
  const health = yield* makeLogHealth

  /** The events of a page, ascending, with the floor and the oldest id of the scope. */
  const page = Effect.fnUntraced(function* (operation: string, text: string, params: ReadonlyArray<unknown>) {
    const rows = yield* query<FloorRow & { readonly oldest_id: string | null }>(operation, text, params)
    const found = yield* events.decode(
      operation,
      rows.filter((row) => row.pos !== null)
    )
    return {
      events: found.map(eventOf).toSorted((a, b) => a.pos - b.pos),
      floor: idOf(rows[0]?.floor),
      oldest_id: idOf(rows[0]?.oldest_id)
    }
  })

  return EventLog.of({
    append: (emitted) =>
      Effect.flatMap(database.joined, (joined) =>
        query(
          "EventLog.append",
          `insert into narthex.event_outbox (org_id, project_id, type, source, region_id, at, internal, data, joined)
           select it.org_id, it.project_id, it.type, it.source, it.region_id, it.at, it.internal, it.data, $2
           from rows from (jsonb_to_recordset($1) as (
               org_id uuid, project_id text, type text, source text, region_id text, at timestamptz,
               internal boolean, data jsonb))
             with ordinality as it(org_id, project_id, type, source, region_id, at, internal, data, n)
           order by it.n`,
          [json(emitted.map((event) => ({ ...event, at: DateTime.formatIso(event.at) }))), joined]
        )
      ),
    sequence: Effect.gen(function* () {
      const begun = yield* Clock.monotonicTimeNanos
      const [row] = yield* query<{ readonly n: number }>(
        "EventLog.sequence",
        "select narthex.event_sequence($1) as n",
        [batch]
      )
      const busy = row === undefined || row.n < 0
      health.sequenced(Number((yield* Clock.monotonicTimeNanos) - begun) / 1e9, busy)
      return busy ? "busy" : row.n < batch ? "idle" : "more"
    }),
    head: Effect.map(
      query<{ readonly pos: number; readonly id: string }>(
        "EventLog.head",
        "select pos, narthex.event_id(ms, r40, c32) as id from narthex.event_head where one"
      ),
      ([row]) => ({ pos: row?.pos ?? 0, id: row === undefined ? noEvent : eventIdFromUuid(row.id) })
    ),
    headOf: (org, upTo = beyondEveryEvent) =>
      Effect.map(
        query<{ readonly id: string | null }>("EventLog.headOf", queries.headOf, [org, eventIdToUuid(upTo)], "events"),
        ([row]) => Option.getOrElse(idOf(row?.id), () => noEvent)
      ),
    tail: (after, limit) =>
      Effect.map(
        events.all("EventLog.tail", "select * from narthex.event_log where pos > $1 order by pos limit $2", [
          after,
          limit
        ]),
        (rows) => {
          health.reader(rows.at(-1)?.pos ?? after)
          return rows.map(eventOf)
        }
      ),
    window: (org, cap) =>
      Effect.gen(function* () {
        const rows = yield* query<FloorRow>("EventLog.window", queries.window, [org, cap + 1])
        const found = (yield* events.decode(
          "EventLog.window",
          rows.filter((row) => row.pos !== null)
        ))
          .map(eventOf)
          .toSorted((a, b) => a.pos - b.pos)
        return found.filter(({ internal }) => !internal).length > cap
          ? { events: found.slice(1), floor: Option.fromUndefinedOr(found[0]?.id) }
          : { events: found, floor: idOf(rows[0]?.floor) }
      }),
    scopeHasBetween: (org, project, after, upTo) =>
      Effect.map(
        query<{ readonly has: boolean }>("EventLog.scopeHasBetween", queries.scopeHasBetween(project !== null), [
          org,
          eventIdToUuid(after),
          eventIdToUuid(upTo),
          ...(project === null ? [] : [project])
        ]),
        ([row]) => row?.has !== false
      ),
    history: (org, project, after, limit) =>
      Effect.map(
        page("EventLog.history", queries.history(project !== null), [
          org,
          eventIdToUuid(after),
          limit + 1,
          ...(project === null ? [] : [project])
        ]),
        ({ events, ...rest }) => historyPage(events, after, limit, rest)
      ),
    newest: (org, project, { after, before }, limit) =>
      Effect.map(
        page("EventLog.newest", queries.newest(project !== null), [
          org,
          eventIdToUuid(after),
          limit + 1,
          eventIdToUuid(before ?? beyondEveryEvent),
          ...(project === null ? [] : [project])
        ]),
        ({ events, ...rest }) => historyPage(events.toReversed(), after, limit, rest)
      ),
    // Notifications reach every instance. The local hints serve an instance that cannot LISTEN: where notifications arrive,
    // the reader would read twice for each commit.
    wakeups: Stream.merge(Stream.map(database.listen(database.schema), health.noticed), Stream.fromPubSub(hints)),
    wake: Effect.suspend(() => (health.hears() ? Effect.void : Effect.asVoid(PubSub.publish(hints, undefined)))),
    trim: (before, keep) => {
      const trimPart = database.transaction(
        Effect.map(
          query<{ readonly n: number }>("EventLog.trim", queries.trim, [DateTime.toDateUtc(before), keep]),
          ([row]) => row?.n ?? 0
        )
      )
      const trimRest = (removed: number): Effect.Effect<number, StorageError> =>
        Effect.flatMap(trimPart, (n) => (n === 0 ? Effect.succeed(removed) : trimRest(removed + n)))
      return trimRest(0)
    }
  })
})

export const PostgresEventLog = {
  layer: Layer.effect(EventLog, make)
}
