/**
 * The event log, and the transaction that fills it.
 *
 * Writers take turns in SQLite, so events get positions and ids in the order of commits as they are appended: there is
 * nothing to sequence. With parallel writers ids must be given after the commit.
 */
import {
  type EmittedEvent,
  EventData,
  EventLog,
  type LoggedEvent,
  makeEventId,
  noEvent,
  OrgId,
  ProjectId,
  RegionId,
  StorageError,
  Transaction
} from "@narthex/core"
import { Clock, Effect, Layer, Option, PubSub, Random, Schema, Stream } from "effect"
import { type Columns, Sqlite, type Value } from "../Sqlite.ts"

const Stored = Schema.Struct({
  org_id: OrgId,
  project_id: Schema.NullOr(ProjectId),
  type: Schema.String,
  source: Schema.String,
  internal: Schema.Boolean,
  data: EventData,
  region_id: RegionId,
  at: Schema.DateTimeUtcFromString
})
const Text = Schema.fromJsonString(Stored)
const [encode, decode] = [Schema.encodeEffect(Text), Schema.decodeUnknownEffect(Text)]

const coded = Effect.mapError((cause: unknown) =>
  cause instanceof StorageError ? cause : new StorageError({ operation: "event", cause })
)

/** Events of a scope that clients may see: `?1` the organization, `?2` a project or null. */
const visible = "org_id = ?1 and not internal and (?2 is null or project_id = ?2)"

interface Head {
  readonly pos: number
  readonly id: string
  readonly ms: number
  readonly r40: number
  readonly c32: number
}

const log = Effect.gen(function* () {
  const { query, run, transaction } = yield* Sqlite
  const hints = yield* PubSub.sliding<void>(1)

  const logged = (row: Columns) =>
    Effect.map(
      decode(row["doc"]),
      (event): LoggedEvent => ({ ...event, pos: Number(row["pos"]), id: String(row["id"]) })
    )
  const events = (condition: string, ...values: ReadonlyArray<Value>) =>
    coded(Effect.flatMap(query(`select pos, id, doc from event where ${condition}`, ...values), Effect.forEach(logged)))

  const head = Effect.map(
    query("select pos, id, ms, r40, c32 from event_head"),
    ([row]): Head => ({
      pos: Number(row?.["pos"] ?? 0),
      id: String(row?.["id"] ?? noEvent),
      ms: Number(row?.["ms"] ?? 0),
      r40: Number(row?.["r40"] ?? 0),
      c32: Number(row?.["c32"] ?? 0)
    })
  )
  /** Ids rise even if the clock stands still or goes back: they continue in the last millisecond. */
  const after = Effect.fnUntraced(function* ({ c32, ms, pos, r40 }: Head) {
    const now = yield* Clock.currentTimeMillis
    const time =
      now > ms ? { ms: now, r40: yield* Random.nextIntBetween(0, 2 ** 40 - 1), c32: 1 } : { ms, r40, c32: c32 + 1 }
    return { ...time, pos: pos + 1, id: makeEventId(time.ms, time.r40, time.c32) }
  })
  const appendOne = Effect.fnUntraced(function* (event: EmittedEvent) {
    const next = yield* after(yield* head)
    const { at, internal, org_id, project_id } = event
    yield* run(
      "insert into event values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
      ...[next.pos, next.id, org_id, project_id, Number(internal), at.epochMilliseconds, yield* encode(event)]
    )
    yield* run(
      "insert or replace into event_head values (1, ?1, ?2, ?3, ?4, ?5)",
      ...[next.pos, next.id, next.ms, next.r40, next.c32]
    )
  })

  /** The newest id that was trimmed, else `noEvent`. */
  const floorOf = (org: OrgId) =>
    Effect.map(query("select id from event_floor where org_id = ?1", org), ([row]) => String(row?.["id"] ?? noEvent))

  return EventLog.of({
    append: (emitted) => coded(transaction(Effect.forEach(emitted, appendOne, { discard: true }))),
    sequence: Effect.succeed("idle"),
    head: Effect.map(head, ({ id, pos }) => ({ id, pos })),
    headOf: (org, upTo) =>
      transaction(
        Effect.gen(function* () {
          const older = "select max(id) as id from event where org_id = ?1 and (?2 is null or id <= ?2)"
          const [row] = yield* query(older, org, upTo ?? null)
          return String(row?.["id"] ?? (yield* floorOf(org)))
        })
      ),
    tail: (from, limit) => events("pos > ?1 order by pos limit ?2", from, limit),
    window: (org, cap) =>
      transaction(
        Effect.gen(function* () {
          const newest = yield* events("org_id = ?1 order by id desc limit ?2", org, cap + 1)
          const below = newest[cap]?.id ?? (yield* floorOf(org))
          return {
            events: newest.slice(0, cap).toReversed(),
            floor: below === noEvent ? Option.none() : Option.some(below)
          }
        })
      ),
    scopeHasBetween: (org, project, from, upTo) =>
      transaction(
        Effect.gen(function* () {
          if (from >= upTo) return false
          if (from < (yield* floorOf(org))) return true
          const found = yield* query(
            `select 1 from event where ${visible} and id > ?3 and id <= ?4 limit 1`,
            ...[org, project, from, upTo]
          )
          return found.length > 0
        })
      ),
    history: (org, project, from, limit) =>
      transaction(
        Effect.gen(function* () {
          const found = yield* events(`${visible} and id > ?3 order by id limit ?4`, org, project, from, limit + 1)
          const [oldest] = yield* query(`select min(id) as id from event where ${visible}`, org, project)
          return {
            events: found.slice(0, limit),
            oldest_id: Option.map(Option.fromNullishOr(oldest?.["id"]), String),
            complete: from >= (yield* floorOf(org)),
            more: found.length > limit
          }
        })
      ),
    newest: (org, project, { after, before }, limit) =>
      transaction(
        Effect.gen(function* () {
          const upTo = before === null ? "" : "and id < ?5"
          const bounds = before === null ? [after, limit + 1] : [after, limit + 1, before]
          const found = yield* events(
            `${visible} and id > ?3 ${upTo} order by id desc limit ?4`,
            org,
            project,
            ...bounds
          )
          const [oldest] = yield* query(`select min(id) as id from event where ${visible}`, org, project)
          return {
            events: found.slice(0, limit),
            oldest_id: Option.map(Option.fromNullishOr(oldest?.["id"]), String),
            complete: after >= (yield* floorOf(org)),
            more: found.length > limit
          }
        })
      ),
    wakeups: Stream.fromPubSub(hints),
    wake: Effect.asVoid(PubSub.publish(hints, undefined)),
    trim: (before, keep) =>
      transaction(
        Effect.gen(function* () {
          // Only events before the first one to keep: trimming leaves no hole.
          const floors = yield* query(
            `select org_id, max(id) as id from (
               select org_id, id, row_number() over (partition by org_id order by id desc) as place,
                 max(at) over (partition by org_id order by id) as latest
               from event)
             where place > ?1 and latest < ?2 group by org_id`,
            ...[keep, before.epochMilliseconds]
          )
          let count = 0
          for (const { id, org_id } of floors) {
            yield* run("insert or replace into event_floor values (?1, ?2)", String(org_id), String(id))
            count += yield* run("delete from event where org_id = ?1 and id <= ?2", String(org_id), String(id))
          }
          return count
        })
      )
  })
})

const transactions = Effect.gen(function* () {
  const { transaction } = yield* Sqlite
  const { append, wake } = yield* EventLog
  return Transaction.make({ begin: transaction, append, committed: wake })
})

export const layerEvents = Layer.effect(Transaction, transactions).pipe(Layer.provideMerge(Layer.effect(EventLog, log)))
