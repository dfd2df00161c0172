/** The exchange of the proxy with libpq, with and without channel binding (docs/design/proxy.md P36). */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Cluster } from "../support/Cluster.ts"
import { anotherProxy, certificate, harness, writeCertificate } from "../support/harness.ts"
import { psql } from "../support/programs.ts"

const ask = (port: number, more: string) => Effect.promise(() => psql(port, "select current_user", more))

describe("channel binding", { tags: ["psql", "openssl"] }, () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live(
    "a client over TLS is served whether it requires the binding, prefers it or does without, at each proxy",
    () =>
      Effect.gen(function* () {
        const { control, port } = yield* harness(cluster, { tls: yield* certificate("db.test") })
        const second = yield* anotherProxy(control, { tls: yield* certificate("db.test") })
        for (const at of [port, second.port])
          for (const binding of ["require", "prefer", "disable"]) {
            const { code, stderr } = yield* ask(at, `sslmode=require channel_binding=${binding}`)
            assert.strictEqual(code, 0, `${binding}: ${stderr}`)
          }
      })
  )

  it.live("a client without TLS is served, unless it requires the binding", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      for (const binding of ["prefer", "disable"])
        assert.strictEqual((yield* ask(port, `sslmode=disable channel_binding=${binding}`)).code, 0, binding)
      const { code, stderr } = yield* ask(port, "sslmode=disable channel_binding=require")
      assert.strictEqual(code, 2)
      assert.include(stderr, "channel binding")
    })
  )

  it.live("a wrong password fails the same way with the binding as without", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster, { tls: yield* certificate("db.test") })
      for (const binding of ["require", "disable"]) {
        const { code, stderr } = yield* ask(port, `sslmode=require channel_binding=${binding} password=wrong`)
        assert.strictEqual(code, 2)
        assert.include(stderr, "password authentication failed", binding)
      }
    })
  )

  it.live("clients bind to the certificate that the proxy shows them, also after it was renewed", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("db.test")
      const { port } = yield* harness(cluster, { tls })
      assert.strictEqual((yield* ask(port, "sslmode=require channel_binding=require")).code, 0)
      writeCertificate(tls, "db.test")
      for (let round = 0; round < 3; round++) {
        const { code, stderr } = yield* ask(port, "sslmode=require channel_binding=require")
        assert.strictEqual(code, 0, stderr)
      }
    })
  )
})
