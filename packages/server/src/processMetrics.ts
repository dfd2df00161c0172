/** The metrics of the process and of its store's connections, read at the moment of a scrape (docs/design/settings.md S10). */
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import type { Database } from "@narthex/postgres"
import { Effect, Metric } from "effect"
import { version } from "./version.ts"

const info = Metric.gauge("narthex_process_info", {
  description: "1 for the version of the process, its region and its roles."
})
const cpu = Metric.counter("process_cpu_seconds_total", {
  description: "CPU time of the process, of user and system.",
  incremental: true
})
const memory = Metric.gauge("process_resident_memory_bytes", { description: "Memory of the process in RAM." })
const start = Metric.gauge("process_start_time_seconds", { description: "When the process began, in Unix time." })
const delay = Metric.gauge("narthex_event_loop_delay_seconds", {
  description: "How late the event loop was since the last scrape, by quantile."
})
const total = Metric.gauge("narthex_store_connections", {
  description: "Connections that the process may open for statements and transactions on the store."
})
const idle = Metric.gauge("narthex_store_connections_idle", { description: "Connections of these that have no work." })
const waiting = Metric.gauge("narthex_store_connections_waiting", {
  description: "Statements and transactions that wait for a connection."
})

/** Tells what the process is. `region` is `null` where it serves every region. */
export const processInfo = (region: string | null, roles: ReadonlyArray<string>): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(info, { version, region: region ?? "", roles: roles.toSorted().join(",") }), 1)

/** How often Node measures, in milliseconds. Its measurements include this interval. */
const resolution = 20
const quantiles = [0.5, 0.99, 1]

const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1e3)

/** Updates the metrics of the process. Node measures the event loop until the scope closes. */
export const processMetrics = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const measured = monitorEventLoopDelay({ resolution })
      measured.enable()
      return measured
    }),
    (measured) => Effect.sync(() => measured.disable())
  ),
  (measured) =>
    Effect.gen(function* () {
      const { system, user } = process.cpuUsage()
      const { count } = yield* Metric.value(cpu)
      yield* Metric.update(cpu, (system + user) / 1e6 - count)
      yield* Metric.update(memory, process.memoryUsage.rss())
      yield* Metric.update(start, performance.timeOrigin / 1e3)
      for (const quantile of quantiles)
        yield* Metric.update(
          Metric.withAttributes(delay, { quantile: String(quantile) }),
          seconds(measured.percentile(quantile * 100))
        )
      measured.reset()
    })
)

/** Updates the metrics of the store's connections. */
export const storeMetrics = ({ connections }: Pick<Database["Service"], "connections">): Effect.Effect<void> =>
  Effect.gen(function* () {
    const now = yield* connections
    yield* Metric.update(total, now.total)
    yield* Metric.update(idle, now.idle)
    yield* Metric.update(waiting, now.waiting)
  })
