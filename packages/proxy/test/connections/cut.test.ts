import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber } from "effect"
import { psql, sqlClient, sqlstate, withoutPsql } from "../support/clients.ts"
import { Cluster } from "../support/Cluster.ts"
import { eventually, harness } from "../support/harness.ts"

/** Runs a query that lasts, in psql, which unlike postgres.js tells of a FATAL; answers the SQLSTATE that ended it. */
const lasting = (port: number, seconds = 600) =>
  Effect.map(
    Effect.promise(() => psql(port, `select pg_sleep(${seconds})`)),
    ({ stderr }) => /FATAL: {2}([0-9A-Z]{5}):/.exec(stderr)?.[1]
  )

describe.skipIf(withoutPsql)("an established connection", () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("is cut with 57P01 when its rule is removed, by the push and long before the next refresh", () =>
    Effect.gen(function* () {
      const { control, port, proxy } = yield* harness(cluster)
      yield* control.list("127.0.0.0/8", "203.0.113.0/24")
      const ended = yield* Effect.forkChild(lasting(port))
      yield* eventually(() => control.reports.at(-1)?.[0]?.connections === 1)
      const before = performance.now()
      yield* control.list("203.0.113.0/24")
      assert.strictEqual(yield* Fiber.join(ended), "57P01")
      assert.isBelow(performance.now() - before, 5_000)
      assert.strictEqual(yield* sqlstate(port), "28000")
      assert.strictEqual(yield* proxy.connections, 0)
    })
  )

  it.live("stays when one of two rules that cover it is removed, and when the last rule is", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* control.list("127.0.0.0/8", "127.0.0.1/32")
      const sql = sqlClient(port)
      const pid = () => Effect.promise(async () => (await sql`select pg_backend_pid() as pid`)[0]?.["pid"])
      const first = yield* pid()
      for (const rules of [["127.0.0.1/32"], []]) {
        const loads = control.loads
        yield* control.list(...rules)
        yield* eventually(() => control.loads > loads)
        assert.strictEqual(yield* pid(), first)
      }
      yield* Effect.promise(() => sql.end())
    })
  )

  it.live("is cut when its rule lapses; the fresh list then opens the project", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      const soon = DateTime.formatIso(DateTime.add(yield* DateTime.now, { seconds: 2 }))
      yield* control.replace([{ cidr: "127.0.0.1/32", expires_at: soon }])
      assert.strictEqual(yield* lasting(port), "57P01")
      assert.strictEqual((yield* Effect.promise(() => psql(port, "select 'open'"))).stdout, "open\n")
    })
  )

  it.live("is cut when its endpoint is disabled, and a new one is refused with 08004", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster, { allowlistRefresh: "200 millis" })
      const ended = yield* Effect.forkChild(lasting(port))
      yield* eventually(() => control.reports.at(-1)?.[0]?.connections === 1)
      control.disabled = true
      assert.strictEqual(yield* Fiber.join(ended), "57P01")
      assert.strictEqual(yield* sqlstate(port), "08004")
    })
  )

  it.live("may finish its transaction when the proxy drains, and is cut when idle or when the grace is over", () =>
    Effect.gen(function* () {
      const { port, proxy } = yield* harness(cluster, { grace: "3 seconds" })
      const [idle, working] = [sqlClient(port), sqlClient(port)]
      yield* Effect.promise(() => idle`select 1`)
      const never = yield* Effect.forkChild(lasting(port, 500))
      yield* Effect.promise(async () => {
        while ((await idle`select 1 from pg_stat_activity where query = 'select pg_sleep(500)'`).length === 0);
      })
      const transaction = yield* Effect.promise(async () => {
        const reserved = await working.reserve()
        await reserved`begin`
        return reserved
      })
      const draining = yield* Effect.forkChild(proxy.drain)
      yield* Effect.promise(async () => {
        assert.deepStrictEqual([...(await transaction`select 2 as two`)], [{ two: 2 }])
        assert.strictEqual((await transaction`commit`).command, "COMMIT")
      })
      assert.strictEqual(yield* Fiber.join(never), "57P01")
      yield* Fiber.join(draining)
      assert.strictEqual(yield* proxy.connections, 0)
      assert.strictEqual(yield* sqlstate(port), "ECONNREFUSED")
    })
  )

  it.live("stays while the control plane is gone, and the last known list still decides about new ones", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* control.list("127.0.0.1/32")
      assert.strictEqual((yield* Effect.promise(() => psql(port, "select 1"))).stdout, "1\n")
      control.down = true
      assert.strictEqual((yield* Effect.promise(() => psql(port, "select 2"))).stdout, "2\n")
    })
  )

  it.live("is not begun when nothing is known of the rules: 57P03", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      control.down = true
      assert.strictEqual(yield* sqlstate(port), "57P03")
      assert.deepStrictEqual(control.wakes, [])
    })
  )
})
