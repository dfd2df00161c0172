/** Holds docs/design/proxy.md P34. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { twinSuffix } from "@narthex/core"
import { Effect } from "effect"
import type postgres from "postgres"
import { Cluster } from "../support/Cluster.ts"
import { sqlClient, sqlstate } from "../support/clients.ts"
import { role, verifierOf } from "../support/credentials.ts"
import { harness } from "../support/harness.ts"
import { endpoint_id, type MemoryControlPlane } from "../support/MemoryControlPlane.ts"

describe("a read-only endpoint", () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  const [writer, twin] = ["role_writer0123456789", `role_writer0123456789${twinSuffix}`]

  /** A writer and its twin, as a driver makes them, and where the control plane knows the writer. */
  const made = Effect.fnUntraced(function* (port: number, control: MemoryControlPlane) {
    control.verifiers.set(writer, verifierOf(writer))
    yield* Effect.promise(async () => {
      const sql = sqlClient(port)
      const names = await sql<ReadonlyArray<{ rolname: string }>>`
        select rolname from pg_roles where rolname like 'role_writer%'`
      for (const { rolname } of names) await sql.unsafe(`drop owned by ${rolname}; drop role ${rolname}`)
      await sql.unsafe(
        `create role ${writer} login password '${verifierOf(writer)}'; grant create on schema public to ${writer}`
      )
      await sql.unsafe(`create role ${twin} login password '${verifierOf(writer)}' in role pg_read_all_data`)
      await sql.end()
    })
  })
  const as = (user: string) => ({ username: `${user}.${endpoint_id}` })

  it.live("a client logs in with its own role and password, reads, and cannot write by any means", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* made(port, control)
      yield* Effect.promise(async () => {
        const sql = sqlClient(port, as(writer))
        await sql`create table t as select 1 as one`
        await sql.end()
      })
      control.type = "read_only"
      yield* Effect.promise(async () => {
        const sql = sqlClient(port, as(writer))
        const [row] = await sql`select current_user, session_user, current_database() as database, one from t`
        assert.deepStrictEqual({ ...row }, { current_user: twin, session_user: twin, database: "postgres", one: 1 })
        const attempts = [
          "insert into t values (2)",
          "create table u ()",
          "drop table t",
          `set role ${writer}`,
          `set session authorization ${writer}`,
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
      assert.strictEqual(yield* sqlstate(port, { ...as(writer), password: "wrong" }), "28P01")
    })
  )

  it.live("a client that names a twin is refused at every endpoint, also with the password of its role", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      yield* made(port, control)
      for (const type of ["read_write", "read_only"] as const) {
        control.type = type
        assert.strictEqual(yield* sqlstate(port, as(twin)), "28000")
        assert.strictEqual(yield* sqlstate(port, as(`${role}${twinSuffix}`)), "28000")
      }
    })
  )

  it.live("a login above the disk quota has a notice why it only reads, and any other login has none", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      const told = Effect.promise(async () => {
        const notices: Array<postgres.Notice> = []
        const sql = sqlClient(port, { onnotice: (notice) => notices.push(notice) })
        await sql`select 1`
        await sql.end()
        return notices
      })
      assert.deepStrictEqual(yield* told, [])
      control.readOnlyReason = "a reason of a newer server"
      assert.deepStrictEqual(yield* told, [])
      control.readOnlyReason = "disk_quota"
      const [notice, ...more] = yield* told
      assert.deepStrictEqual(more, [])
      assert.deepInclude(notice, { severity: "WARNING", code: "53100" })
      assert.include(notice?.["message"], "disk")
      assert.include(notice?.["hint"], "Delete a branch")
    })
  )
})
