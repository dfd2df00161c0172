/** The limit of a statement's time, by a proxy and a real Postgres (docs/design/mcp.md M9). */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Cluster } from "../../proxy/test/support/Cluster.ts"
import { password, role } from "../../proxy/test/support/credentials.ts"
import { harness } from "../../proxy/test/support/harness.ts"
import { endpoint_id } from "../../proxy/test/support/MemoryControlPlane.ts"
import { refusedSql } from "../src/access/explain.ts"
import { network } from "../src/sql/dial.ts"
import { runStatement } from "../src/sql/runStatement.ts"
import { StatementTimeout } from "../src/sql/statement.ts"

describe("the time of a statement", () => {
  const cluster = new Cluster()
  afterAll(() => cluster.remove())

  it.live("Postgres ends a statement that exceeds its limit, and the refusal says which limit it was", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const target = {
        host: "127.0.0.1",
        port,
        user: role,
        password: Redacted.make(password),
        database: "postgres",
        options: `endpoint=${endpoint_id}`,
        tls: false
      }
      const ran = (sql: string) => runStatement(target, network, { sql, limit: 10, max_bytes: 1_000 })
      assert.deepStrictEqual((yield* ran("SHOW statement_timeout")).rows, [["30s"]])
      const short = Effect.provideService(StatementTimeout, 200)
      const failure = yield* Effect.flip(short(ran("SELECT pg_sleep(300)")))
      assert.include({ ...failure }, { _tag: "SqlRefused", sqlstate: "57014", opening: false })
      assert.strictEqual(refusedSql(failure, false).rule, "time_limit")
      assert.strictEqual((yield* short(ran("SELECT 1"))).command, "SELECT 1")
    })
  )
})
