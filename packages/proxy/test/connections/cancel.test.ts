import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Socket } from "node:net"
import { conninfo, open, openTls, run, sqlClient, untilClosed, withoutPsql } from "../support/clients.ts"
import { Cluster } from "../support/Cluster.ts"
import { session } from "../support/session.ts"
import { certificate, harness } from "../support/harness.ts"

const cancelPacket = (key: Buffer) => {
  const packet = Buffer.alloc(8 + key.length)
  packet.writeUInt32BE(packet.length, 0)
  packet.writeUInt32BE(80_877_102, 4)
  key.copy(packet, 8)
  return packet
}

describe.skipIf(withoutPsql)("a cancel request", () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  const psqlInterrupted = (info: string) =>
    Effect.promise(() =>
      run("timeout", [
        "-s",
        "INT",
        "1",
        "psql",
        "-X",
        "-v",
        "VERBOSITY=verbose",
        "-d",
        info,
        "-c",
        "select pg_sleep(600)"
      ])
    )

  it.live("from psql cancels the query, in the clear and over TLS", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("db.test")
      const { port } = yield* harness(cluster, { tls })
      for (const mode of ["disable", "require"]) {
        const { stderr } = yield* psqlInterrupted(conninfo(port, `sslmode=${mode}`))
        assert.match(stderr, /Cancel request sent\s+ERROR: {2}57014: canceling statement due to user request/)
      }
    })
  )

  it.live("from postgres.js cancels the query", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const sql = sqlClient(port)
      yield* Effect.promise(async () => {
        await sql`select 1`
        const query = sql`select pg_sleep(600)`.simple()
        const ended = query.catch((error: { code?: string }) => error.code)
        const observer = sqlClient(port)
        while ((await observer`select 1 from pg_stat_activity where query = 'select pg_sleep(600)'`).length === 0);
        query.cancel()
        assert.strictEqual(await ended, "57014")
        await Promise.all([sql.end(), observer.end()])
      })
    })
  )

  it.live("from an address that is not listed cancels nothing, in the clear or over TLS, and is told nothing", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("db.test")
      const { control, port } = yield* harness(cluster, { tls })
      yield* control.list("127.0.0.1/32")
      const sql = sqlClient(port)
      yield* Effect.promise(async () => {
        const sleeping = await session(port, "select pg_sleep(600)")
        const send = async (from: Socket) => {
          from.end(cancelPacket(sleeping.key))
          return untilClosed(from)
        }
        assert.strictEqual((await send(open(port, "127.0.0.2"))).length, 0)
        assert.strictEqual(
          (await sql`select state from pg_stat_activity where pid = ${sleeping.pid}`)[0]?.["state"],
          "active"
        )
        assert.strictEqual((await send(open(port, "127.0.0.1"))).length, 0)
        assert.match((await sleeping.answer).toString("latin1"), /C57014\0/)
        assert.strictEqual((await send(openTls(port, "db.test", ["postgresql"]))).length, 0)
        await sql.end()
      })
      assert.deepStrictEqual(control.wakes, [])
    })
  )

  it.live("for a key that nobody has is told nothing either", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      const socket = open(port)
      socket.end(cancelPacket(Buffer.alloc(8, 7)))
      assert.strictEqual((yield* Effect.promise(() => untilClosed(socket))).length, 0)
      assert.deepStrictEqual(control.wakes, [])
    })
  )
})
