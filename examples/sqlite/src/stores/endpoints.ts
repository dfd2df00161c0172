/** Endpoints, what proxies report about their computes, and doubts whether a compute still runs. */
import {
  activityTiming,
  type ComputeDoubt,
  ComputeDoubtStore,
  Endpoint,
  type EndpointId,
  EndpointStore,
  type EndpointUse,
  type OwnedEndpoint,
  Project,
  pageOf
} from "@narthex/core"
import { Clock, DateTime, Effect, Layer, Option, Schema } from "effect"
import { documents } from "../documents.ts"
import { Sqlite } from "../Sqlite.ts"

const living = "doc ->> 'deleted_at' is null"
/** How long the last report of a proxy is kept, in milliseconds. */
const kept = 3_600_000

const endpoints = Effect.gen(function* () {
  const { query, run, transaction } = yield* Sqlite
  const deleted_at = Schema.NullOr(Schema.DateTimeUtcFromString)
  const Stored = Schema.Struct({ endpoint: Endpoint, deleted_at })
  const endpoints = yield* documents("endpoint", Stored)
  const projects = yield* documents("project", Schema.Struct({ project: Project }))
  const bare = ({ endpoint }: typeof Stored.Type) => endpoint
  const findAnywhere = (id: EndpointId) => Effect.map(endpoints.one(`id = ?1 and ${living}`, id), Option.map(bare))
  const findOwned = Effect.fnUntraced(function* (id: EndpointId) {
    const endpoint = Option.getOrUndefined(yield* findAnywhere(id))
    if (endpoint === undefined) return Option.none<OwnedEndpoint>()
    const project = yield* projects.one(`id = ?1 and ${living}`, endpoint.project_id)
    return Option.map(project, ({ project: { org_id } }) => ({ endpoint, org_id }))
  })

  const noteReport = Effect.fnUntraced(function* (
    proxy_id: string,
    sequence: number,
    report: Parameters<EndpointStore["Service"]["noteActivity"]>[0]["endpoints"][number]
  ) {
    const { busy, connections, endpoint_id, generation, idle_ms } = report
    const endpoint = Option.getOrUndefined(yield* findAnywhere(endpoint_id))
    if (endpoint === undefined || endpoint.generation !== generation) return
    const now = yield* Clock.currentTimeMillis
    const noted = yield* run(
      `insert into endpoint_use values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict do update set
         generation = excluded.generation, sequence = excluded.sequence, connections = excluded.connections,
         busy = excluded.busy, reported_at = excluded.reported_at
       where generation <> excluded.generation or sequence <= excluded.sequence`,
      ...[endpoint_id, proxy_id, generation, sequence, connections, busy, now]
    )
    if (noted === 0) return // a later report was received before
    const [sum] = yield* query(
      "select sum(connections) as n from endpoint_use where endpoint_id = ?1 and generation = ?2",
      ...[endpoint_id, generation]
    )
    const last_active_at = Math.max(now - idle_ms, endpoint.last_active_at?.epochMilliseconds ?? 0)
    yield* endpoints.change(endpoint_id, (row) => ({
      ...row,
      endpoint: new Endpoint({
        ...row.endpoint,
        connections: Number(sum?.["n"]),
        last_active_at: DateTime.makeUnsafe(last_active_at)
      })
    }))
  })

  const useOf = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const now = yield* Clock.currentTimeMillis
    const [reception] = yield* query("select seen_at, since from report_reception")
    const receiving = reception !== undefined && now - Number(reception["seen_at"]) <= activityTiming.outage
    const reports = yield* query(
      "select * from endpoint_use where endpoint_id = ?1 and generation = ?2",
      ...[endpoint.id, endpoint.generation]
    )
    const since = endpoint.last_active_at ?? endpoint.started_at ?? endpoint.updated_at
    const use: EndpointUse = {
      endpoint_id: endpoint.id,
      idle_ms: now - since.epochMilliseconds,
      started_ms: endpoint.started_at === null ? null : now - endpoint.started_at.epochMilliseconds,
      receiving_ms: receiving ? now - Number(reception["since"]) : null,
      proxies: reports.map((row) => ({
        named: row["proxy_id"] !== "",
        connections: Number(row["connections"]),
        busy: Number(row["busy"]),
        age_ms: now - Number(row["reported_at"])
      }))
    }
    return use
  })

  return EndpointStore.of({
    put: (endpoint) =>
      transaction(
        Effect.gen(function* () {
          const former = Option.getOrUndefined(yield* endpoints.get(endpoint.id))
          const deleted_at = former?.deleted_at ?? null
          const second = `doc ->> '$.endpoint.branch_id' = ?1 and doc ->> '$.endpoint.type' = 'read_write' and id <> ?2
            and ${living}`
          const { branch_id, id, type } = endpoint
          if (deleted_at === null && type === "read_write" && (yield* endpoints.exists(second, branch_id, id)))
            return false
          yield* endpoints.put(id, { endpoint, deleted_at })
          return true
        })
      ),
    find: (project, id) =>
      Effect.map(
        findAnywhere(id),
        Option.filter((endpoint) => endpoint.project_id === project)
      ),
    findAnywhere,
    lock: findAnywhere,
    findOwned,
    lockOwned: findOwned,
    markDeleted: (id, now) => transaction(endpoints.change(id, (row) => ({ ...row, deleted_at: now }))),
    list: (project, branch, page) =>
      Effect.map(
        endpoints.newestFirst(
          page,
          `doc ->> '$.endpoint.project_id' = ?1 and (?2 is null or doc ->> '$.endpoint.branch_id' = ?2) and ${living}`,
          project,
          branch
        ),
        (rows) => pageOf(rows.map(bare), page)
      ),
    ofBranch: (branch) =>
      Effect.map(endpoints.where(`doc ->> '$.endpoint.branch_id' = ?1 and ${living}`, branch), (rows) =>
        rows.map(bare)
      ),
    active: (after, limit) =>
      Effect.map(
        endpoints.where(
          `doc ->> '$.endpoint.current_state' = 'active' and (?1 is null or id > ?1) and ${living} order by id limit ?2`,
          after,
          limit
        ),
        (rows) => rows.map(bare)
      ),
    noteActivity: ({ endpoints: reports, proxy_id, sequence }) => {
      // Of several reports about one compute the last one counts.
      const last = new Map(reports.map((report) => [`${report.endpoint_id} ${report.generation}`, report]))
      return transaction(
        Effect.forEach(last.values(), (report) => noteReport(proxy_id ?? "", sequence, report), { discard: true })
      )
    },
    noteReceiving: transaction(
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        yield* run(
          `insert into report_reception values (1, ?1, ?1) on conflict do update set
             since = case when excluded.seen_at - seen_at > ?2 then excluded.seen_at else since end,
             seen_at = excluded.seen_at`,
          ...[now, activityTiming.outage]
        )
        yield* run(
          "delete from endpoint_use where ?1 - max(reported_at, (select since from report_reception)) > ?2",
          ...[now, kept]
        )
      })
    ),
    use: (id) =>
      transaction(
        Effect.flatMap(
          findAnywhere(id),
          Option.match({ onNone: () => Effect.succeedNone, onSome: (it) => Effect.asSome(useOf(it)) })
        )
      ),
    unused: transaction(
      Effect.gen(function* () {
        const rows = yield* endpoints.where(
          `doc ->> '$.endpoint.current_state' = 'active' and doc ->> '$.endpoint.pending_state' is null
           and doc ->> '$.endpoint.suspend_timeout_seconds' <> -1 and not coalesce(doc ->> '$.endpoint.reach.own_roles', 0)
           and ${living}`
        )
        const uses = yield* Effect.forEach(rows, ({ endpoint }) =>
          Effect.map(useOf(endpoint), (use) => ({ use, timeout_ms: endpoint.suspend_timeout_seconds * 1_000 }))
        )
        return uses.filter(({ timeout_ms, use }) => use.idle_ms >= timeout_ms).map(({ use }) => use)
      })
    )
  })
})

const Doubt = Schema.Struct({ endpoint_id: Endpoint.fields.id, generation: Schema.Int })
const decodeDoubts = Schema.decodeUnknownSync(Schema.Array(Doubt))

const doubts = Effect.gen(function* () {
  const { query, run } = yield* Sqlite
  const same = "endpoint_id = ?1 and generation = ?2"
  return ComputeDoubtStore.of({
    record: ({ endpoint_id, generation }, now) =>
      Effect.asVoid(
        run(
          `insert into compute_doubt values (?1, ?2, ?3) on conflict do update set
             generation = excluded.generation, at = excluded.at where generation < excluded.generation`,
          ...[endpoint_id, generation, now.epochMilliseconds]
        )
      ),
    stands: ({ endpoint_id, generation }: ComputeDoubt) =>
      Effect.map(
        query(`select 1 from compute_doubt where ${same}`, endpoint_id, generation),
        (rows) => rows.length > 0
      ),
    oldest: (limit) =>
      Effect.map(query("select endpoint_id, generation from compute_doubt order by at limit ?1", limit), (rows) =>
        decodeDoubts(rows.map((row) => ({ ...row })))
      ),
    remove: ({ endpoint_id, generation }) =>
      Effect.asVoid(run(`delete from compute_doubt where ${same}`, endpoint_id, generation))
  })
})

export const layerEndpoints = Layer.merge(
  Layer.effect(EndpointStore, endpoints),
  Layer.effect(ComputeDoubtStore, doubts)
)
