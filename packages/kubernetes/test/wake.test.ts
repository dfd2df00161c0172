/** The whole way: the API makes a database on Kubernetes, and the proxy wakes it (docs/design/kubernetes.md K9, K11). */
import { assert, describe, layer } from "@effect/vitest"
import { HttpControlPlane, Proxy } from "@narthex/proxy"
import { Effect, Layer, Logger, Redacted } from "effect"
import postgres from "postgres"
import { eventually } from "../../../test/harness/eventually.ts"
import { HostedPlane } from "../../../test/support/HostedPlane.ts"
import { driverOn } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

const token = "proxy-token-of-a-test-proxy-token-of-a-test"

/** A control plane whose computes are on the double, its proxy, and a person who is signed in. */
const platform = Effect.gen(function* () {
  const kubernetes = yield* KubernetesDouble
  const computes = Layer.provide(driverOn(), Layer.succeed(KubernetesDouble, kubernetes))
  const plane = yield* HostedPlane.make({ computes, proxyToken: token, clientAddress: () => "127.0.0.1" })
  const control = HttpControlPlane.layer({ api_url: plane.url, token: Redacted.make(token) })
  const proxied = Proxy.layer({ host: "127.0.0.1", port: 0, domain: "localhost", shutdown_grace: "1 second" })
  const services = yield* Layer.build(proxied.pipe(Layer.provide(control), Layer.provide(Logger.layer([]))))
  const { port } = yield* Effect.provideContext(Proxy, services)
  const client = yield* Effect.promise(async () => {
    const person = await plane.product.people.ensure({
      subject: "ada",
      email: "ada@example.com",
      email_verified: true,
      name: "Ada"
    })
    return plane.product.client(await plane.product.sessions.start(person))
  })
  return { client, kubernetes, port }
})

/** Runs statements through the proxy, in one session. */
const through = (port: number, uri: string, ...statements: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const url = new URL(uri)
    url.port = String(port)
    const sql = postgres(url.toString(), { max: 1, connect_timeout: 60, onnotice: () => undefined })
    try {
      let rows: ReadonlyArray<object> = []
      for (const statement of statements) rows = [...(await sql.unsafe(statement))]
      return rows
    } finally {
      await sql.end({ timeout: 5 })
    }
  })

describe("a database on Kubernetes behind the proxy", { tags: ["openssl"] }, () =>
  layer(KubernetesDouble.layer, { excludeTestServices: true })((it) => {
    it.effect("a connection wakes the suspended database, which has its data, and a deletion removes it", () =>
      Effect.gen(function* () {
        const { client, kubernetes, port } = yield* platform
        const { branch, endpoint, project } = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
        const minted = yield* Effect.promise(() =>
          client.branches.mint({ project_id: project.id, branch_id: branch.id, access: "read_write" })
        )
        const uri = minted.connection_uri
        yield* through(port, uri, "CREATE TABLE kept AS SELECT 1 AS n")
        const stateOf = Effect.promise(async () => {
          const found = await client.endpoints.get({ project_id: project.id, endpoint_id: endpoint.id })
          return found.endpoint.current_state
        })
        yield* eventually(
          "the endpoint to run",
          Effect.map(stateOf, (state) => state === "active")
        )
        yield* Effect.promise(() => client.endpoints.suspend({ project_id: project.id, endpoint_id: endpoint.id }))
        yield* eventually(
          "the endpoint to be suspended",
          Effect.map(stateOf, (state) => state === "idle")
        )
        assert.lengthOf(kubernetes.pods(), 0)
        assert.deepStrictEqual(yield* through(port, uri, "SELECT n FROM kept"), [{ n: 1 }])
        assert.lengthOf(kubernetes.pods(), 1)
        yield* Effect.promise(() => client.projects.delete({ project_id: project.id }))
        yield* eventually(
          "the database to be removed",
          Effect.sync(() => kubernetes.clusters().length === 0 && kubernetes.pods().length === 0)
        )
        assert.deepStrictEqual(kubernetes.failures, [])
      })
    )
  })
)
