/** Statements of agents through a proxy and at a real Postgres (docs/design/mcp.md M9, M13, M17). */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Cluster } from "../../proxy/test/support/Cluster.ts"
import { password, role } from "../../proxy/test/support/credentials.ts"
import { harness } from "../../proxy/test/support/harness.ts"
import { endpoint_id } from "../../proxy/test/support/MemoryControlPlane.ts"
import { onBehalfOf } from "../../server/src/mcp.ts"
import { refusedSql } from "../src/access/explain.ts"
import { type Dial, network } from "../src/sql/dial.ts"
import { runStatement } from "../src/sql/runStatement.ts"
import { StatementTimeout } from "../src/sql/statement.ts"

describe("a statement of an agent", () => {
  const cluster = new Cluster()
  afterAll(() => cluster.remove())

  /** Runs SQL at the proxy with this port. */
  const running =
    (port: number) =>
    (sql: string, dial: Dial = network) => {
      const named = { user: role, password: Redacted.make(password), database: "postgres" }
      const target = { host: "127.0.0.1", port, ...named, options: `endpoint=${endpoint_id}`, tls: false }
      return runStatement(target, dial, { sql, limit: 10, max_bytes: 1_000 })
    }

  it.live("Postgres ends a statement that exceeds its limit, and the refusal says which limit it was", () =>
    Effect.gen(function* () {
      const ran = running((yield* harness(cluster)).port)
      assert.deepStrictEqual((yield* ran("SHOW statement_timeout")).rows, [["30s"]])
      const short = Effect.provideService(StatementTimeout, 200)
      const failure = yield* Effect.flip(short(ran("SELECT pg_sleep(300)")))
      assert.include({ ...failure }, { _tag: "SqlRefused", sqlstate: "57014", opening: false })
      assert.strictEqual(refusedSql(failure, false).rule, "time_limit")
      assert.strictEqual((yield* short(ran("SELECT 1"))).command, "SELECT 1")
    })
  )

  it.live("a proxy that trusts the API admits by the agent's address and not by the API's", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster, { trusted: ["127.0.0.1/32"] })
      yield* control.list("203.0.113.0/24")
      const ran = running(port)
      const from = (client: string) => onBehalfOf(client, { host: "127.0.0.1", port })
      assert.deepStrictEqual((yield* ran("SELECT 1", from("203.0.113.7"))).rows, [[1]])
      for (const client of ["198.51.100.1", "2001:db8::1", "127.0.0.1", "0.0.0.0", "no address"]) {
        const failure = yield* Effect.flip(ran("SELECT 1", from(client)))
        assert.strictEqual(refusedSql(failure, false).rule, "ip_allowlist", client)
      }
    })
  )
})
