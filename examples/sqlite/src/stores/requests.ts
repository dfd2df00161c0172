/** What requests need: rate limits, idempotency records, regions and allowlists. */
import {
  type Begun,
  countsNow,
  IdempotencyStore,
  type IdempotentCall,
  IpAllowlistStore,
  IpRule,
  isAllowed,
  type ProjectId,
  RateLimiter,
  Region,
  RegionCatalog,
  rulesAfter,
  takenFrom,
  type WindowCounts
} from "@narthex/core"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { documents } from "../documents.ts"
import { nextOf, Sqlite } from "../Sqlite.ts"

const Instant = Schema.DateTimeUtcFromString

const limiter = Effect.gen(function* () {
  const { query, run, transaction } = yield* Sqlite
  const stored = ([row]: ReadonlyArray<Readonly<Record<string, unknown>>>): WindowCounts | undefined =>
    row === undefined
      ? undefined
      : { window: Number(row["window"]), taken: Number(row["taken"]), taken_before: Number(row["taken_before"]) }
  return RateLimiter.of({
    take: (take) =>
      transaction(
        Effect.gen(function* () {
          const { cost, limit_name, subject, window_seconds } = take
          const row = yield* query(
            "select * from rate_limit where limit_name = ?1 and subject = ?2",
            limit_name,
            subject
          )
          const before = countsNow(take, stored(row))
          if (!isAllowed(take, before)) return takenFrom(take, false, before)
          const after = { ...before, taken: before.taken + cost }
          yield* run(
            "insert or replace into rate_limit values (?1, ?2, ?3, ?4, ?5, ?6)",
            ...[limit_name, subject, after.window, after.taken, after.taken_before],
            (after.window + 2) * window_seconds * 1_000
          )
          return takenFrom(take, true, after)
        })
      ),
    purge: (now) => Effect.asVoid(run("delete from rate_limit where stale_at <= ?1", now.epochMilliseconds))
  })
})

const Record = Schema.Struct({
  fingerprint: Schema.String,
  attempt: Schema.Int,
  lease_until: Instant,
  expires_at: Instant,
  answer: Schema.NullOr(
    Schema.Struct({
      status: Schema.Int,
      headers: Schema.Record(Schema.String, Schema.String),
      body: Schema.String
    })
  )
})

const idempotency = Effect.gen(function* () {
  const { query, transaction } = yield* Sqlite
  const records = yield* documents("idempotency_record", Record)
  const idOf = ({ key, owner }: IdempotentCall) => JSON.stringify([owner, key])
  const running = (call: IdempotentCall, attempt: number) =>
    Effect.map(
      records.get(idOf(call)),
      Option.filter((row) => row.attempt === attempt && row.answer === null)
    )
  const begunAlready = (call: IdempotentCall, now: DateTime.Utc) =>
    Effect.map(
      records.get(idOf(call)),
      Option.flatMap((row): Option.Option<Begun> => {
        if (DateTime.isGreaterThanOrEqualTo(now, row.expires_at)) return Option.none()
        if (row.fingerprint !== call.fingerprint) return Option.some({ _tag: "conflict" })
        if (row.answer !== null) return Option.some({ _tag: "replay", answer: row.answer })
        return DateTime.isLessThan(now, row.lease_until)
          ? Option.some({ _tag: "in_progress", lease_until: row.lease_until })
          : Option.none()
      })
    )
  return IdempotencyStore.of({
    begin: (call, { expires_at, lease_until, now }) =>
      transaction(
        Effect.gen(function* () {
          const already = yield* begunAlready(call, now)
          if (Option.isSome(already)) return already.value
          const attempt = yield* nextOf(query, "attempt")
          yield* records.put(idOf(call), {
            fingerprint: call.fingerprint,
            attempt,
            lease_until,
            expires_at,
            answer: null
          })
          return { _tag: "fresh", attempt }
        })
      ),
    complete: (call, attempt, answer) =>
      transaction(
        Effect.gen(function* () {
          const row = yield* running(call, attempt)
          if (Option.isNone(row)) return false
          yield* records.put(idOf(call), { ...row.value, answer })
          return true
        })
      ),
    abandon: (call, attempt) =>
      transaction(
        Effect.gen(function* () {
          if (Option.isSome(yield* running(call, attempt))) yield* records.remove("id = ?1", idOf(call))
        })
      ),
    purge: (now) => Effect.asVoid(records.remove("doc ->> 'expires_at' <= ?1", DateTime.formatIso(now)))
  })
})

const regions = Effect.gen(function* () {
  const { query, transaction } = yield* Sqlite
  const Entry = Schema.Struct({ region: Region, active: Schema.Boolean, position: Schema.Int })
  const regions = yield* documents("region", Entry)
  const all = regions.where("true order by doc ->> 'position'")
  const put = Effect.fnUntraced(function* (region: Region) {
    const rows = yield* all
    const former = rows.find((row) => row.region.region_id === region.region_id)
    for (const row of rows)
      if (region.default && row.region.default && row !== former)
        yield* regions.put(row.region.region_id, { ...row, region: new Region({ ...row.region, default: false }) })
    const position = former?.position ?? (yield* nextOf(query, "region"))
    yield* regions.put(region.region_id, { region, active: true, position })
  })
  return RegionCatalog.of({
    active: Effect.map(all, (rows) => rows.filter((row) => row.active).map(({ region }) => region)),
    all,
    seed: (ids) =>
      transaction(
        Effect.gen(function* () {
          if ((yield* all).length > 0) return
          for (const [n, id] of ids.entries())
            yield* put(new Region({ region_id: id, name: id, default: n === 0, geo_lat: 0, geo_long: 0 }))
        })
      ),
    put: (region) => transaction(put(region)),
    edit: (id, edit) =>
      transaction(
        Effect.gen(function* () {
          const edited = edit(Option.getOrUndefined(yield* regions.get(id)))
          yield* put(yield* Effect.fromResult(edited))
        })
      ),
    retire: (id) =>
      transaction(
        Effect.gen(function* () {
          const row = Option.getOrUndefined(yield* regions.get(id))
          if (row === undefined || !row.active) return false
          yield* regions.put(id, { ...row, active: false, region: new Region({ ...row.region, default: false }) })
          return true
        })
      )
  })
})

const allowlists = Effect.gen(function* () {
  const { query, run, transaction } = yield* Sqlite
  const Rules = Schema.fromJsonString(Schema.Array(IpRule))
  const [decode, encode] = [Schema.decodeUnknownEffect(Rules), Schema.encodeEffect(Rules)]

  const listOf = Effect.fnUntraced(function* (project: ProjectId) {
    const [row] = yield* query("select version, rules from ip_allowlist where project_id = ?1", project)
    const rules = yield* Effect.orDie(decode(row?.["rules"] ?? "[]"))
    return { project_id: project, version: Number(row?.["version"] ?? 0), rules }
  })
  const rulesOf = (project: ProjectId) => Effect.map(listOf(project), ({ rules }) => rules)
  return IpAllowlistStore.of({
    all: rulesOf,
    lists: (projects) => transaction(Effect.forEach(projects, listOf)),
    lock: rulesOf,
    change: (project, decide) =>
      transaction(
        Effect.gen(function* () {
          const list = yield* listOf(project)
          const edit = yield* Effect.fromResult(decide(list.rules))
          const version = list.version + 1
          const text = yield* Effect.orDie(encode(rulesAfter(list.rules, edit)))
          yield* run("insert or replace into ip_allowlist values (?1, ?2, ?3)", project, version, text)
          return { edit, version }
        })
      )
  })
})

export const layerRequests = Layer.mergeAll(
  Layer.effect(RateLimiter, limiter),
  Layer.effect(IdempotencyStore, idempotency),
  Layer.effect(RegionCatalog, regions),
  Layer.effect(IpAllowlistStore, allowlists)
)
