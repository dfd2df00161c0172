import type { Socket } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, until } from "../../../../test/harness/eventually.ts"
import { Cluster } from "../support/Cluster.ts"
import { open, openTls, sqlClient, untilClosed, untilRuns } from "../support/clients.ts"
import { anotherProxy, certificate, countedCompute, harness } from "../support/harness.ts"
import { beginPsql } from "../support/programs.ts"
import { session } from "../support/session.ts"

const cancelPacket = (key: Buffer) => {
  const packet = Buffer.alloc(8 + key.length)
  packet.writeUInt32BE(packet.length, 0)
  packet.writeUInt32BE(80_877_102, 4)
  key.copy(packet, 8)
  return packet
}

describe("cancel requests", { tags: ["psql", "openssl"] }, () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("a cancel request of psql cancels the query, in plaintext and over TLS", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("db.test")
      const { port } = yield* harness(cluster, { tls })
      const observer = sqlClient(port)
      yield* Effect.promise(async () => {
        for (const mode of ["disable", "require"]) {
          const psql = beginPsql(port, "select pg_sleep(600)", `sslmode=${mode}`)
          await untilRuns(observer, "select pg_sleep(600)")
          psql.signal("SIGINT")
          const { stderr } = await psql.ended
          assert.match(stderr, /Cancel request sent\s+ERROR: {2}57014: canceling statement due to user request/)
        }
        await observer.end()
      })
    })
  )

  it.live("a cancel request of postgres.js cancels the query", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const sql = sqlClient(port)
      yield* Effect.promise(async () => {
        await sql`select 1`
        const query = sql`select pg_sleep(600)`.simple()
        const ended = query.catch((error: { code?: string }) => error.code)
        const observer = sqlClient(port)
        await untilRuns(observer, "select pg_sleep(600)")
        query.cancel()
        assert.strictEqual(await ended, "57014")
        await Promise.all([sql.end(), observer.end()])
      })
    })
  )

  it.live("a cancel request from an address that is not listed cancels nothing and gets no answer", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("db.test")
      const forwards = yield* countedCompute(cluster)
      const { control, port } = yield* harness(forwards.compute, { tls })
      yield* control.list("127.0.0.1/32")
      const sql = sqlClient(port)
      yield* Effect.promise(async () => {
        const sleeping = await session(port, "select pg_sleep(600)")
        const send = async (from: Socket) => {
          from.end(cancelPacket(sleeping.key))
          return untilClosed(from)
        }
        const tlsFrom = (address: string) => openTls(port, "db.test", ["postgresql"], open(port, address))
        await untilRuns(sql, "select pg_sleep(600)")
        const atCompute = forwards.count
        assert.strictEqual((await send(open(port, "127.0.0.2"))).length, 0)
        assert.strictEqual((await send(tlsFrom("127.0.0.2"))).length, 0)
        // The proxy closes after it has handled a cancel request, so none of these has reached the compute.
        assert.strictEqual(forwards.count, atCompute)
        assert.strictEqual((await send(open(port, "127.0.0.1"))).length, 0)
        assert.strictEqual(forwards.count, atCompute + 1)
        assert.match((await sleeping.answer).toString("latin1"), /C57014\0/)
        assert.strictEqual((await send(tlsFrom("127.0.0.1"))).length, 0)
        assert.strictEqual(forwards.count, atCompute + 2)
        sleeping.socket.destroy()
        await sql.end()
      })
      assert.deepStrictEqual(control.wakes, [])
    })
  )

  it.live("a cancel request that reaches another proxy is forwarded by the one with the session, if it is listed", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      const other = yield* anotherProxy(control)
      const observer = sqlClient(port)
      yield* control.list("127.0.0.1/32")
      yield* Effect.promise(async () => {
        const sleeping = await session(port, "select pg_sleep(600)")
        const send = async (from: string) => {
          const socket = open(other.port, from)
          socket.end(cancelPacket(sleeping.key))
          return untilClosed(socket)
        }
        await untilRuns(observer, "select pg_sleep(600)")
        assert.strictEqual((await send("127.0.0.2")).length, 0)
        await until("the refusal to be reported", () => control.refusals.length > 0)
        assert.strictEqual((await send("127.0.0.1")).length, 0)
        assert.match((await sleeping.answer).toString("latin1"), /C57014\0/)
        sleeping.socket.destroy()
        await observer.end()
      })
      assert.lengthOf(control.cancels, 2)
      assert.deepStrictEqual(control.wakes, [])
    })
  )

  it.live("the key of a session is not that of its compute", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      yield* Effect.promise(async () => {
        const sleeping = await session(port, "select pg_backend_pid()")
        await sleeping.answer
        const observer = sqlClient(port)
        const own = await observer`select pid from pg_stat_activity where query like '%pg_backend_pid%'`
        assert.isFalse(own.some(({ pid }) => pid === sleeping.pid))
        sleeping.socket.destroy()
        await observer.end()
      })
    })
  )

  it.live("the key of a session that has ended reaches no compute", () =>
    Effect.gen(function* () {
      const forwards = yield* countedCompute(cluster)
      const { control, port, proxy } = yield* harness(forwards.compute)
      const ended = yield* Effect.promise(() => session(port, "select 1"))
      ended.socket.destroy()
      yield* eventually(
        "the session to end",
        Effect.map(proxy.connections, (count) => count === 0)
      )
      const atCompute = forwards.count
      const socket = open(port)
      socket.end(cancelPacket(ended.key))
      assert.strictEqual((yield* Effect.promise(() => untilClosed(socket))).length, 0)
      assert.strictEqual(forwards.count, atCompute)
      assert.lengthOf(control.cancels, 1)
    })
  )

  it.live("a cancel request with an unknown key gets no answer", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      const socket = open(port)
      socket.end(cancelPacket(Buffer.alloc(8, 7)))
      assert.strictEqual((yield* Effect.promise(() => untilClosed(socket))).length, 0)
      assert.deepStrictEqual(control.wakes, [])
    })
  )
})
