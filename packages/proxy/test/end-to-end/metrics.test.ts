/** The metrics of a proxy: what sessions and wakes count (docs/design/settings.md S10). */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Metric } from "effect"
import { TestClock } from "effect/testing"
import { makeAllowlistCache } from "../../src/control-plane/AllowlistCache.ts"
import { parsePeer } from "../../src/networks/Address.ts"
import { ProxyMetrics } from "../../src/outcomes/ProxyMetrics.ts"
import { Cluster } from "../support/Cluster.ts"
import { harness } from "../support/harness.ts"
import { endpoint_id, MemoryControlPlane, project_id } from "../support/MemoryControlPlane.ts"
import { psql } from "../support/programs.ts"

/** A registry of the test alone. */
const apart = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(test, Metric.MetricRegistry, new Map()))

/** The number of a counter or a gauge, or how many values a histogram has. */
const read = (id: string, value?: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const found = all.find(
      (it) => it.id === id && (value === undefined || Object.values(it.attributes ?? {}).includes(value))
    )
    if (found === undefined) return Number.NaN
    return "count" in found.state ? Number(found.state.count) : "value" in found.state ? Number(found.state.value) : 0
  })

describe("the metrics of a proxy", { tags: ["psql"] }, () => {
  const cluster = new Cluster()
  afterAll(() => cluster.remove())

  it.live("every metric is shown at zero before the first client, so that the first increase is seen", () =>
    Effect.gen(function* () {
      yield* harness(cluster)
      for (const outcome of ["woken", "timed_out", "unreachable", "too_many", "refused", "abandoned"])
        assert.strictEqual(yield* read("narthex_proxy_wakes_total", outcome), 0, outcome)
      for (const step of ["start", "connect"])
        assert.strictEqual(yield* read("narthex_proxy_wake_seconds", step), 0, step)
      for (const woken of ["yes", "no"])
        assert.strictEqual(yield* read("narthex_proxy_opening_seconds", woken), 0, woken)
      for (const to of ["compute", "client"])
        assert.strictEqual(yield* read("narthex_proxy_relayed_bytes_total", to), 0, to)
      assert.strictEqual(yield* read("narthex_proxy_allowlist_age_seconds"), 0)
    }).pipe(apart)
  )

  it.live("a session that wakes its compute counts the wake, its steps, its opening and its bytes", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const ask = Effect.promise(() => psql(port, "select repeat('x', 50000)"))
      assert.strictEqual((yield* ask).code, 0)
      assert.strictEqual(yield* read("narthex_proxy_wakes_total", "woken"), 1)
      assert.strictEqual(yield* read("narthex_proxy_wake_seconds", "start"), 1)
      assert.strictEqual(yield* read("narthex_proxy_wake_seconds", "connect"), 1)
      assert.strictEqual(yield* read("narthex_proxy_opening_seconds", "yes"), 1)
      assert.isAbove(yield* read("narthex_proxy_relayed_bytes_total", "client"), 50_000)
      const sent = yield* read("narthex_proxy_relayed_bytes_total", "compute")
      assert.isAbove(sent, "select repeat('x', 50000)".length)
      assert.isBelow(sent, 1_000)

      assert.strictEqual((yield* ask).code, 0)
      assert.strictEqual(yield* read("narthex_proxy_wakes_total", "woken"), 1)
      assert.strictEqual(yield* read("narthex_proxy_opening_seconds", "no"), 1)
    }).pipe(apart)
  )

  it.live("wakes that fail count by their reason", () =>
    Effect.gen(function* () {
      const none = { generation: 0, running: false, address: "", start: () => Promise.resolve("") }
      const { control, port } = yield* harness(none)
      const ask = Effect.promise(() => psql(port, "select 1"))
      control.stuck = true
      yield* ask
      control.stuck = false
      control.full = true
      yield* ask
      assert.strictEqual(yield* read("narthex_proxy_wakes_total", "timed_out"), 1)
      assert.strictEqual(yield* read("narthex_proxy_wakes_total", "too_many"), 1)
      assert.strictEqual(yield* read("narthex_proxy_wakes_total", "woken"), 0)
      assert.strictEqual(yield* read("narthex_proxy_wake_seconds", "start"), 0)
    }).pipe(apart)
  )

  it.effect("the age of allowlists grows while the control plane does not answer, and ends with a refresh", () =>
    Effect.gen(function* () {
      const control = yield* MemoryControlPlane.make({
        generation: 1,
        running: true,
        address: "",
        start: async () => ""
      })
      const settings = { refresh: Duration.seconds(30), max_stale: Duration.hours(1) }
      const metrics = new ProxyMetrics(yield* Effect.context<never>())
      const age = read("narthex_proxy_allowlist_age_seconds")
      const { check } = yield* Effect.provide(makeAllowlistCache(settings, metrics), control.layer)
      yield* check({ endpoint_id, project_id, peer: parsePeer("127.0.0.1") ?? assert.fail("an address") })
      control.listless = true
      yield* TestClock.adjust("5 minutes")
      assert.isAbove(yield* age, 240)
      control.listless = false
      yield* TestClock.adjust("1 minute")
      assert.isBelow(yield* age, 1)
    }).pipe(Effect.scoped, apart)
  )
})
