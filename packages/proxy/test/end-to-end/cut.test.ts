import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Cluster } from "../support/Cluster.ts"
import { sqlClient, sqlstate, untilClosed, untilRuns } from "../support/clients.ts"
import { harness } from "../support/harness.ts"
import { type MemoryControlPlane, project_id } from "../support/MemoryControlPlane.ts"
import { psql } from "../support/programs.ts"
import { session } from "../support/session.ts"

/** Runs a long query in psql, which unlike postgres.js reports a FATAL. Returns the SQLSTATE that ended it. */
const lasting = (port: number, seconds = 600) => Effect.map(lastWords(port, seconds), sqlstateOf)

/** The output of psql when its long query is ended. */
const lastWords = (port: number, seconds: number) =>
  Effect.map(
    Effect.promise(() => psql(port, `select pg_sleep(${seconds})`)),
    ({ stderr }) => stderr
  )

const sqlstateOf = (stderr: string) => /FATAL: {2}([0-9A-Z]{5}):/.exec(stderr)?.[1]

/** Waits until the proxy has reported one connection. */
const connected = (control: MemoryControlPlane) =>
  eventually(
    "the report of one connection",
    Effect.sync(() => control.reports.at(-1)?.endpoints[0]?.connections === 1)
  )

/** So long that no cut of a test can come from a refresh. */
const neverRefreshed = { allowlist: { refresh: "1 hour" } } as const

describe("established connections", { tags: ["psql"] }, () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("removing its rule cuts a connection with 57P01, long before the next refresh", () =>
    Effect.gen(function* () {
      const { control, port, proxy } = yield* harness(cluster, neverRefreshed)
      yield* control.list("127.0.0.0/8", "203.0.113.0/24")
      const ended = yield* Effect.forkChild(lastWords(port, 600))
      yield* connected(control)
      const { loads } = control
      yield* control.list("203.0.113.0/24")
      const words = yield* Fiber.join(ended)
      assert.strictEqual(sqlstateOf(words), "57P01")
      assert.include(words, `narthex ip-allow add 127.0.0.1 --project ${project_id}`)
      assert.strictEqual(control.loads, loads + 1)
      assert.strictEqual(yield* sqlstate(port), "28000")
      assert.strictEqual(yield* proxy.connections, 0)
    })
  )

  it.live("an endpoint that is disabled, suspended or deleted ends its connections at the notification", () =>
    Effect.gen(function* () {
      const ends: ReadonlyArray<Partial<MemoryControlPlane>> = [
        { disabled: true },
        { suspended: true },
        { gone: true },
        // Suspended, and started again before the proxy asks.
        { restarts: 1 }
      ]
      for (const end of ends) {
        const { control, port, proxy } = yield* harness(cluster, neverRefreshed)
        const ended = yield* Effect.forkChild(lasting(port))
        yield* connected(control)
        Object.assign(control, end)
        yield* control.hint
        assert.strictEqual(yield* Fiber.join(ended), "57P01")
        assert.strictEqual(yield* proxy.connections, 0)
      }
    })
  )

  it.live("without a notification a suspended endpoint's connections end with the next refresh", () =>
    Effect.gen(function* () {
      const { control, port, proxy } = yield* harness(cluster, { allowlist: { refresh: "200 millis" } })
      const ended = yield* Effect.forkChild(lasting(port))
      yield* connected(control)
      control.suspended = true
      assert.strictEqual(yield* Fiber.join(ended), "57P01")
      assert.strictEqual(yield* proxy.connections, 0)
    })
  )

  it.live("a connection stays when one of two rules that cover it is removed, and when the last rule is", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* control.list("127.0.0.0/8", "127.0.0.1/32")
      const sql = sqlClient(port)
      const pid = () => Effect.promise(async () => (await sql`select pg_backend_pid() as pid`)[0]?.["pid"])
      const first = yield* pid()
      for (const rules of [["127.0.0.1/32"], []]) {
        const { loads } = control
        yield* control.list(...rules)
        yield* eventually(
          "the changed list to be loaded",
          Effect.sync(() => control.loads > loads)
        )
        assert.strictEqual(yield* pid(), first)
      }
      yield* Effect.promise(() => sql.end())
    })
  )

  it.live("a connection is cut when its rule expires, and the fresh list then opens the project", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster, neverRefreshed)
      const now = yield* DateTime.now
      const lapsing = (seconds: number) => [
        { cidr: "127.0.0.1/32", expires_at: DateTime.formatIso(DateTime.add(now, { seconds })) }
      ]
      // The control plane's clock stands still, so the rule expires only by the proxy's clock, however long a step
      // takes.
      control.clock = now
      control.rules = lapsing(3_600)
      const ended = yield* Effect.forkChild(lasting(port))
      yield* connected(control)
      const { loads } = control
      yield* control.replace(lapsing(1))
      yield* eventually(
        "the changed list to be loaded",
        Effect.sync(() => control.loads > loads)
      )
      // Later lists do not contain the rule. Otherwise the next list would extend it by a second.
      control.clock = DateTime.add(now, { seconds: 1 })
      assert.strictEqual(yield* Fiber.join(ended), "57P01")
      const { stderr, stdout } = yield* Effect.promise(() => psql(port, "select 'open'"))
      assert.deepStrictEqual({ stderr, stdout }, { stderr: "", stdout: "open\n" })
    })
  )

  it.live("disabling an endpoint cuts its connections and refuses new ones with 08004", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster, { allowlist: { refresh: "200 millis" } })
      const ended = yield* Effect.forkChild(lasting(port))
      yield* connected(control)
      control.disabled = true
      assert.strictEqual(yield* Fiber.join(ended), "57P01")
      assert.strictEqual(yield* sqlstate(port), "08004")
    })
  )

  it.live("draining cuts an idle connection immediately, and a busy one at the end of its transaction", () =>
    Effect.gen(function* () {
      const { port, proxy } = yield* harness(cluster, { shutdown_grace: "50 seconds" })
      const working = sqlClient(port)
      const idle = yield* Effect.promise(() => session(port, "select 1"))
      yield* Effect.promise(() => idle.answer)
      const cut = untilClosed(idle.socket)
      const transaction = yield* Effect.promise(async () => {
        const reserved = await working.reserve()
        await reserved`begin`
        return reserved
      })
      assert.strictEqual(yield* proxy.connections, 2)
      const draining = yield* Effect.forkChild(proxy.drain)
      assert.match((yield* Effect.promise(() => cut)).toString("latin1"), /C57P01\0/)
      const oneLeft = Effect.map(proxy.connections, (relayed) => relayed === 1)
      yield* eventually("the proxy to have one connection left", oneLeft)
      yield* Effect.promise(async () => {
        assert.deepStrictEqual([...(await transaction`select 2 as two`)], [{ two: 2 }])
        assert.strictEqual((await transaction`commit`).command, "COMMIT")
      })
      yield* Fiber.join(draining)
      assert.strictEqual(yield* proxy.connections, 0)
      assert.strictEqual(yield* sqlstate(port), "ECONNREFUSED")
    })
  )

  it.live("draining cuts a connection within its query after the shutdown grace", () =>
    Effect.gen(function* () {
      const { port, proxy } = yield* harness(cluster, { shutdown_grace: "100 millis" })
      const observer = sqlClient(port)
      const ended = yield* Effect.forkChild(lasting(port, 500))
      yield* Effect.promise(() => untilRuns(observer, "select pg_sleep(500)"))
      yield* proxy.drain
      assert.strictEqual(yield* Fiber.join(ended), "57P01")
      assert.strictEqual(yield* proxy.connections, 0)
    })
  )

  it.live("without a control plane connections stay, and the last known list applies to new ones", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* control.list("127.0.0.1/32")
      assert.strictEqual((yield* Effect.promise(() => psql(port, "select 1"))).stdout, "1\n")
      control.down = true
      assert.strictEqual((yield* Effect.promise(() => psql(port, "select 2"))).stdout, "2\n")
    })
  )

  it.live("a connection is refused with 57P03 if the rules were never loaded", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      control.down = true
      assert.strictEqual(yield* sqlstate(port), "57P03")
      assert.deepStrictEqual(control.wakes, [])
    })
  )
})
