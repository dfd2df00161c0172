/** How long a compute has been used is the database's to say (docs/design/proxy.md P33), whatever an instance wrote. */
import { assert, layer } from "@effect/vitest"
import { Endpoint, EndpointStore } from "@narthex/core"
import { aBranchId, anEndpoint, aProjectId } from "@narthex/core/testing"
import { DateTime, Effect, Option } from "effect"
import { Database } from "../../src/index.ts"
import { onPostgres } from "./onPostgres.ts"

const month = 30 * 86_400_000

/** An endpoint whose compute was started by an instance with a clock that is so many milliseconds ahead. */
const startedBy = Effect.fnUntraced(function* (ahead: number) {
  const store = yield* EndpointStore
  const idle = anEndpoint(aProjectId(), aBranchId(), { suspend_timeout_seconds: 3_600 })
  yield* store.put(idle)
  const now = DateTime.add(DateTime.makeUnsafe(Date.now()), { milliseconds: ahead })
  const active = { current_state: "active", started_at: now, last_active_at: now, address: "10.0.0.1:5432" } as const
  const running = new Endpoint({ ...idle, ...active })
  yield* store.put(running)
  return running
})

const used = Effect.fnUntraced(function* ({ id }: Endpoint) {
  const { idle_ms, started_ms } = Option.getOrThrow(yield* (yield* EndpointStore).use(id))
  return { idle_ms, started_ms: started_ms ?? Number.NaN }
})

const query = (text: string, params: ReadonlyArray<unknown>) =>
  Database.use((database) => database.query("endpointUse", text, params))

layer(onPostgres, { excludeTestServices: true })("the use of a compute", (it) => {
  for (const [clock, ahead] of [
    ["fast", month],
    ["slow", -month]
  ] as const)
    it.effect(`idle time begins with the start, by the database's clock, if an instance's clock is ${clock}`, () =>
      Effect.gen(function* () {
        const endpoint = yield* startedBy(ahead)
        const { idle_ms, started_ms } = yield* used(endpoint)
        for (const age of [idle_ms, started_ms]) assert.isTrue(age >= 0 && age < month, String(age))

        const before = "now() - interval '2 hours'"
        yield* query(`update narthex.endpoint set ran_since = ${before}, used_at = ${before} where id = $1`, [
          endpoint.id
        ])
        const store = yield* EndpointStore
        const unused = (yield* store.unused).map(({ endpoint_id }) => endpoint_id)
        assert.include(unused, endpoint.id)
        const { generation, id: endpoint_id } = endpoint
        const report = { endpoint_id, generation, connections: 1, busy: 0, idle_ms: 60_000 }
        yield* store.noteActivity({ proxy_id: "proxy", sequence: 1, endpoints: [report] })
        const reported = (yield* used(endpoint)).idle_ms
        assert.isTrue(reported >= 60_000 && reported < 3_600_000, String(reported))
      })
    )

  it.effect("a report that an instance of an earlier release records counts, too", () =>
    Effect.gen(function* () {
      const endpoint = yield* startedBy(0)
      yield* query("update narthex.endpoint set used_at = now() - interval '2 hours' where id = $1", [endpoint.id])
      yield* query("update narthex.endpoint set last_active_at = now() - interval '1 minute' where id = $1", [
        endpoint.id
      ])
      const { idle_ms } = yield* used(endpoint)
      assert.isTrue(idle_ms >= 60_000 && idle_ms < 3_600_000, String(idle_ms))
    })
  )
})
