/** The part of `EndpointStore.layerMemory` that records what proxies report. */
import { Clock, DateTime, Effect, Option } from "effect"
import type { EndpointId } from "../../Ids.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { Endpoint } from "./Endpoint.ts"
import { activityTiming, type EndpointUse, type ProxyReport } from "./EndpointUse.ts"

export interface StoredEndpoint {
  readonly endpoint: Endpoint
  readonly deleted_at: DateTime.Utc | null
}

interface StoredUse {
  readonly endpoint_id: EndpointId
  readonly proxy_id: string
  readonly generation: number
  readonly sequence: number
  readonly connections: number
  readonly busy: number
  /** Milliseconds since the epoch, as below. */
  readonly reported_at: number
}

interface Reception {
  readonly seen_at: number
  readonly since: number
}

/** The key of all proxies that do not name themselves. */
const unnamed = ""
/** How long the last report of a proxy is kept, in milliseconds. */
const kept = 3_600_000

export const makeMemoryActivity = Effect.gen(function* () {
  const storage = yield* MemoryStorage
  const endpoints = storage.table<StoredEndpoint>("endpoint")
  const uses = storage.table<StoredUse>("endpoint_use")
  const receptions = storage.table<Reception>("report_reception")
  const keyOf = (use: Pick<StoredUse, "endpoint_id" | "proxy_id">) => `${use.endpoint_id} ${use.proxy_id}`

  const noteActivity = ({ endpoints: reports, proxy_id: name, sequence }: ProxyReport) =>
    storage.transaction(
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const proxy_id = name ?? unnamed
        const last = new Map(reports.map((it) => [`${it.endpoint_id} ${it.generation}`, it]))
        for (const { busy, connections, endpoint_id, generation, idle_ms } of last.values()) {
          const row = Option.getOrUndefined(yield* endpoints.get(endpoint_id))
          if (row === undefined || row.deleted_at !== null || row.endpoint.generation !== generation) continue
          const use: StoredUse = { endpoint_id, proxy_id, generation, sequence, connections, busy, reported_at: now }
          const before = Option.getOrUndefined(yield* uses.get(keyOf(use)))
          if (before !== undefined && before.generation === generation && before.sequence > sequence) continue
          yield* uses.put(keyOf(use), use)
          const all = (yield* uses.all).filter((it) => it.endpoint_id === endpoint_id && it.generation === generation)
          const active_at = Math.max(now - idle_ms, row.endpoint.last_active_at?.epochMilliseconds ?? 0)
          const endpoint = new Endpoint({
            ...row.endpoint,
            connections: all.reduce((sum, it) => sum + it.connections, 0),
            last_active_at: DateTime.makeUnsafe(active_at)
          })
          yield* endpoints.put(endpoint_id, { ...row, endpoint })
        }
      })
    )

  const noteReceiving = storage.transaction(
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const before = Option.getOrUndefined(yield* receptions.get("one"))
      const outage = before === undefined || now - before.seen_at > activityTiming.outage
      const since = outage ? now : before.since
      yield* receptions.put("one", { seen_at: now, since })
      yield* uses.modify((rows) => {
        const old = rows.filter(({ reported_at }) => now - Math.max(reported_at, since) > kept)
        return [undefined, old.map((row) => [keyOf(row), undefined])]
      })
    })
  )

  const useOf = Effect.fnUntraced(function* ({ generation, id, ...endpoint }: Endpoint) {
    const now = yield* Clock.currentTimeMillis
    const reception = Option.getOrUndefined(yield* receptions.get("one"))
    const receiving = reception !== undefined && now - reception.seen_at <= activityTiming.outage
    const since = endpoint.last_active_at ?? endpoint.started_at ?? endpoint.updated_at
    const use: EndpointUse = {
      endpoint_id: id,
      idle_ms: now - since.epochMilliseconds,
      started_ms: endpoint.started_at === null ? null : now - endpoint.started_at.epochMilliseconds,
      receiving_ms: receiving ? now - reception.since : null,
      proxies: (yield* uses.all)
        .filter((it) => it.endpoint_id === id && it.generation === generation)
        .map(({ busy, connections, proxy_id, reported_at }) => ({
          named: proxy_id !== unnamed,
          connections,
          busy,
          age_ms: now - reported_at
        }))
    }
    return use
  })

  const living = Effect.map(endpoints.all, (rows) => rows.filter(({ deleted_at }) => deleted_at === null))
  return {
    noteActivity,
    noteReceiving,
    use: Effect.fnUntraced(function* (id: EndpointId) {
      const row = (yield* living).find(({ endpoint }) => endpoint.id === id)
      return row === undefined ? Option.none() : Option.some(yield* useOf(row.endpoint))
    }),
    unused: Effect.gen(function* () {
      const running = (yield* living)
        .map(({ endpoint }) => endpoint)
        .filter((endpoint) => endpoint.running && endpoint.reach?.own_roles !== true)
      const found = yield* Effect.forEach(running, (endpoint) =>
        Effect.map(useOf(endpoint), (use) => ({ use, timeout: endpoint.suspend_timeout_seconds }))
      )
      return found.filter(({ timeout, use }) => timeout !== -1 && use.idle_ms >= timeout * 1_000).map(({ use }) => use)
    })
  }
})
