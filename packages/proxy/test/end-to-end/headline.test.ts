/** Holds docs/design/proxy.md P2. */
import type { Socket } from "node:net"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Cluster } from "../support/Cluster.ts"
import {
  once,
  open,
  openTls,
  sqlClient,
  sqlstate,
  sslRequest,
  takesConnection,
  untilClosed,
  usual
} from "../support/clients.ts"
import { certificate, countedCompute, harness, refusingCompute } from "../support/harness.ts"
import { endpoint_id, type Startable } from "../support/MemoryControlPlane.ts"
import { beginPsql, psql } from "../support/programs.ts"

/** Sends a startup packet and returns everything that the proxy sends until it closes. */
const answer = (socket: Socket) => {
  socket.write(usual)
  return untilClosed(socket)
}

describe("suspended endpoints", { tags: ["psql", "openssl"] }, () => {
  const cluster = new Cluster()
  afterAll(() => cluster.remove())

  it.live("a client that is not listed does not wake a suspended endpoint: there is no wake call", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* control.list("203.0.113.0/24")
      for (const more of ["sslmode=disable", "sslmode=prefer", "sslmode=prefer user=nobody"]) {
        const { code, stderr } = yield* Effect.promise(() => psql(port, "select 1", more))
        assert.strictEqual(code, 2)
        assert.match(stderr, /FATAL: {2}The address 127\.0\.0\.1 is not on this project's IP allowlist\./)
        assert.match(stderr, /HINT: {2}Add it with: narthex ip-allow add 127\.0\.0\.1/)
      }
      assert.strictEqual(yield* sqlstate(port), "28000")
      assert.deepStrictEqual(control.wakes, [])
      assert.isFalse(cluster.running)
    })
  )

  it.live(
    "a client that is not listed does not wake a suspended endpoint over TLS: negotiated, direct or preferred",
    () =>
      Effect.gen(function* () {
        const tls = yield* certificate("db.test")
        const { control, port } = yield* harness(cluster, { tls })
        yield* control.list("203.0.113.0/24")
        const negotiated = async () => {
          const socket = open(port)
          socket.write(sslRequest)
          assert.strictEqual((await once(socket)).toString(), "S")
          return answer(openTls(port, "db.test", ["postgresql"], socket))
        }
        const direct = () => answer(openTls(port, "db.test", ["postgresql"]))
        const inTheClear = () => answer(open(port))
        // A client with sslmode=prefer, like libpq below, makes a second attempt when the first one is refused.
        const attempts = [negotiated, direct, negotiated, inTheClear]
        yield* Effect.promise(async () => {
          for (const attempt of attempts) assert.match((await attempt()).toString("latin1"), /^E.*C28000\0/s)
        })
        assert.strictEqual(yield* sqlstate(port, { ssl: { rejectUnauthorized: false } }), "28000")

        const refusals = /FATAL: {2}The address 127\.0\.0\.1 is not on this project's IP allowlist\./g
        for (const [mode, times] of [
          ["require", 1],
          ["prefer", 2]
        ] as const) {
          const { code, stderr } = yield* Effect.promise(() => psql(port, "select 1", `sslmode=${mode}`))
          assert.strictEqual(code, 2)
          assert.lengthOf(stderr.match(refusals) ?? [], times, stderr)
        }
        assert.deepStrictEqual(control.wakes, [])
        assert.isFalse(cluster.running)
      })
  )

  it.live("an address that was just removed does not wake a suspended endpoint", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* control.list("127.0.0.1/32")
      yield* Effect.promise(() => psql(port, "select 1"))
      yield* Effect.promise(() => cluster.stop())
      // The proxy has not been notified, so only the control plane can refuse.
      control.rules = [{ cidr: "203.0.113.0/24", expires_at: null }]
      assert.strictEqual(yield* sqlstate(port), "28000")
      assert.strictEqual(control.wakes.length, 2)
      assert.isFalse(cluster.running)
    })
  )

  it.live("60 concurrent clients wake a suspended endpoint once and are all served", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() => cluster.stop())
      const { control, port } = yield* harness(cluster)
      const clients = Array.from({ length: 60 }, () => sqlClient(port))
      const answers = yield* Effect.promise(() =>
        Promise.all(clients.map(async (sql, n) => (await sql`select ${n}::int as n`)[0]?.["n"]))
      )
      assert.deepStrictEqual(answers, [...clients.keys()])
      assert.strictEqual(control.wakes.length, 1)
      yield* Effect.promise(() => Promise.all(clients.map((sql) => sql.end())))
    })
  )

  it.live("a compute that stops after it was resolved is woken again without the client noticing", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() => cluster.start())
      const stale = {
        generation: 0,
        running: true,
        address: "/nonexistent/g0/.s.PGSQL.5432",
        start: () => cluster.start()
      }
      const { control, port } = yield* harness(stale)
      const { stdout } = yield* Effect.promise(() => psql(port, "select 'served'"))
      assert.strictEqual(stdout, "served\n")
      assert.strictEqual(control.wakes.length, 1)
    })
  )

  it.live(
    "a compute that was suspended right after its wake is woken again, and its former address is not dialled",
    () =>
      Effect.gen(function* () {
        const computes = yield* Effect.all([countedCompute(cluster), countedCompute(cluster)])
        const woken: Array<string> = []
        const start = async () => {
          const next = computes[woken.length]?.compute.address ?? ""
          woken.push(next)
          await cluster.start()
          return next
        }
        const { control, port } = yield* harness({ generation: 1, running: false, address: "", start })
        for (const n of ["first", "second"]) {
          const { stdout } = yield* Effect.promise(() => psql(port, `select '${n}'`))
          assert.strictEqual(stdout, `${n}\n`)
        }
        assert.strictEqual(control.wakes.length, 2)
        assert.deepStrictEqual(
          computes.map(({ count }) => count),
          [1, 1]
        )
      })
  )

  it.live("a compute that answers 57P03 is woken again without the client noticing", () =>
    Effect.gen(function* () {
      const starting = yield* refusingCompute("57P03")
      const addresses = [starting, starting, yield* Effect.promise(() => cluster.start())]
      const start = () => Promise.resolve(addresses.shift() ?? "")
      const { control, port } = yield* harness({ generation: 1, running: false, address: "", start })
      const { stdout } = yield* Effect.promise(() => psql(port, "select 'served'"))
      assert.strictEqual(stdout, "served\n")
      assert.strictEqual(control.wakes.length, 3)
    })
  )

  it.live("a wake is retried at most five times, and other errors of the compute are relayed to the client", () =>
    Effect.gen(function* () {
      const starting = yield* refusingCompute("57P03")
      const never = yield* harness({ generation: 1, running: true, address: starting, start: async () => starting })
      assert.strictEqual(yield* sqlstate(never.port), "57P03")
      assert.strictEqual(never.control.wakes.length, 5)
      const full = yield* refusingCompute("53300")
      const other = yield* harness({ generation: 1, running: true, address: full, start: async () => full })
      assert.strictEqual(yield* sqlstate(other.port), "53300")
      assert.deepStrictEqual(other.control.wakes, [])
    })
  )

  it.live("an endpoint that does not start in time is 57P03, which drivers may retry", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() => cluster.stop())
      const { control, port } = yield* harness(cluster)
      control.stuck = true
      assert.strictEqual(yield* sqlstate(port), "57P03")
    })
  )

  it.live("a wake beyond the organization's quota is 53300, with a sentence that says what to do", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() => cluster.stop())
      const { control, port } = yield* harness(cluster)
      control.full = true
      assert.strictEqual(yield* sqlstate(port), "53300")
      const { stderr } = yield* Effect.promise(() => psql(port, "select 1"))
      assert.match(stderr, /runs as many computes as its quota allows[\s\S]+HINT: +Suspend another endpoint/)
      control.full = false
      assert.strictEqual((yield* Effect.promise(() => psql(port, "select 1"))).stderr, "")
    })
  )

  it.live("the control plane receives reports of the computes in use, and of those no longer in use", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      const sql = sqlClient(port)
      yield* Effect.promise(() => sql`select 1`)
      yield* eventually(
        "the report of one connection",
        Effect.sync(() => control.reports.at(-1)?.endpoints[0]?.connections === 1)
      )
      const report = control.reports.at(-1)?.endpoints[0]
      assert.strictEqual(report?.endpoint_id, endpoint_id)
      assert.strictEqual(report?.generation, cluster.generation)
      yield* Effect.promise(() => sql.end())
      yield* eventually(
        "the report of none",
        Effect.sync(() => control.reports.at(-1)?.endpoints[0]?.connections === 0)
      )
    })
  )

  for (const leaver of ["that began the wake", "that joined it"])
    it.live(`a client that disconnects during a wake does not affect the others: the one ${leaver}`, () =>
      Effect.gen(function* () {
        const { promise: woken, resolve: wake } = Promise.withResolvers<string>()
        const compute: Startable = { generation: 1, running: false, address: "", start: () => woken }
        const { control, port } = yield* harness(compute, { limits: { connections: 2 } })
        const first = beginPsql(port, "select 'stayed'")
        yield* eventually(
          "the first client to wake the endpoint",
          Effect.sync(() => control.wakes.length === 1)
        )
        const second = beginPsql(port, "select 'stayed'")
        yield* eventually(
          "the second client to come as far",
          Effect.sync(() => control.resolves.length === 2)
        )

        assert.isFalse(yield* Effect.promise(() => takesConnection(port)))
        const [leaving, staying] = leaver === "that joined it" ? [second, first] : [first, second]
        leaving.signal("SIGKILL")
        yield* eventually(
          "the place of the client that left",
          Effect.promise(() => takesConnection(port))
        )
        wake(yield* Effect.promise(() => cluster.start()))
        const { stderr, stdout } = yield* Effect.promise(() => staying.ended)
        assert.strictEqual(stdout, "stayed\n", stderr)
        assert.strictEqual(control.wakes.length, 1)
      })
    )
})
