/** Holds docs/design/proxy.md P34. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { twinSuffix } from "@narthex/core"
import { Effect } from "effect"
import { Cluster } from "../support/Cluster.ts"
import { sqlClient, sqlstate } from "../support/clients.ts"
import { password } from "../support/clusterTemplate.ts"
import { harness } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"

describe("a read-only endpoint", () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  /** A writer and its twin, as a driver makes them. */
  const made = Effect.fnUntraced(function* (port: number) {
    yield* Effect.promise(async () => {
      const sql = sqlClient(port)
      const names = await sql<ReadonlyArray<{ rolname: string }>>`
        select rolname from pg_roles where rolname like 'writer%'`
      for (const { rolname } of names) await sql.unsafe(`drop owned by ${rolname}; drop role ${rolname}`)
      await sql.unsafe(`create role writer login password '${password}'; grant create on schema public to writer`)
      const [{ rolpassword }] = await sql<[{ rolpassword: string }]>`
        select rolpassword from pg_authid where rolname = 'writer'`
      await sql.unsafe(`create role writer${twinSuffix} login password '${rolpassword}' in role pg_read_all_data`)
      await sql.end()
    })
  })
  const as = (user: string) => ({ username: `${user}.${endpoint_id}` })

  it.live("a client logs in with its own role and password, reads, and cannot write by any means", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* made(port)
      yield* Effect.promise(async () => {
        const sql = sqlClient(port, as("writer"))
        await sql`create table t as select 1 as one`
        await sql.end()
      })
      control.type = "read_only"
      yield* Effect.promise(async () => {
        const sql = sqlClient(port, as("writer"))
        const [row] = await sql`select current_user, session_user, current_database() as database, one from t`
        const twin = `writer${twinSuffix}`
        assert.deepStrictEqual({ ...row }, { current_user: twin, session_user: twin, database: "postgres", one: 1 })
        const attempts = [
          "insert into t values (2)",
          "create table u ()",
          "drop table t",
          "set role writer",
          "set session authorization writer",
          "begin read write; insert into t values (2)",
          "set default_transaction_read_only = off; insert into t values (2)"
        ]
        for (const attempt of attempts) {
          const refused: { code?: unknown } = await sql.unsafe(attempt).then(
            () => ({ code: "none" }),
            (error) => error
          )
          assert.strictEqual(refused.code, "42501", attempt)
          await sql.unsafe("rollback")
        }
        await sql.end()
      })
      assert.strictEqual(yield* sqlstate(port, { ...as("writer"), password: "wrong" }), "28P01")
    })
  )

  it.live("a client that names a twin is refused at every endpoint, in full and by truncation", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* made(port)
      for (const type of ["read_write", "read_only"] as const) {
        control.type = type
        assert.strictEqual(yield* sqlstate(port, as(`writer${twinSuffix}`)), "28000")
        const long = `${"w".repeat(63 - twinSuffix.length)}${twinSuffix}`
        assert.strictEqual(yield* sqlstate(port, as(`${long}more`)), "28000")
      }
      assert.strictEqual(yield* sqlstate(port, as("w".repeat(63))), "28000", "a name that has no twin")
    })
  )
})
