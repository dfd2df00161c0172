/** A control plane in memory with given computes, its proxy, and a project with a database. */
import { ComputeDriver } from "@narthex/core"
import { HttpControlPlane, Proxy } from "@narthex/proxy"
import { Effect, Layer, Logger, Redacted } from "effect"
import postgres from "postgres"
import { eventually } from "../../harness/eventually.ts"
import { HostedPlane } from "../../support/HostedPlane.ts"

const token = "proxy-token-of-a-test-proxy-token-of-a-test"

/** Statements through the proxy, in one session. A client waits as long as the proxy does, and again. */
const run = (uri: string, port: number, statement: string) =>
  Effect.promise(async (): Promise<ReadonlyArray<object>> => {
    const url = new URL(uri)
    url.port = String(port)
    const sql = postgres(url.toString(), { max: 1, connect_timeout: 120, onnotice: () => undefined })
    try {
      return [...(await sql.unsafe(statement))]
    } finally {
      await sql.end({ timeout: 5 })
    }
  })

export const proxied = Effect.fnUntraced(function* (driver: ComputeDriver["Service"]) {
  const computes = Layer.succeed(ComputeDriver, driver)
  const plane = yield* HostedPlane.make({ computes, proxyToken: token, clientAddress: () => "127.0.0.1" })
  const control = HttpControlPlane.layer({ api_url: plane.url, token: Redacted.make(token) })
  const proxy = Proxy.layer({ host: "127.0.0.1", port: 0, domain: "localhost", shutdown_grace: "1 second" })
  const services = yield* Layer.build(proxy.pipe(Layer.provide(control), Layer.provide(Logger.layer([]))))
  const { port } = yield* Effect.provideContext(Proxy, services)
  const { endpoint, project, uri, client } = yield* Effect.promise(async () => {
    const ada = { subject: "ada", email: "ada@example.com", email_verified: true, name: "Ada" }
    const client = plane.product.client(await plane.product.sessions.start(await plane.product.people.ensure(ada)))
    const { branch, endpoint, project } = await client.projects.create({ name: "shop" })
    const place = { project_id: project.id, branch_id: branch.id }
    const { connection_uri } = await client.branches.mint({ ...place, access: "read_write" })
    return { client, endpoint, project, uri: connection_uri }
  })
  const place = { project_id: project.id, endpoint_id: endpoint.id }
  const isIn = (state: string) =>
    eventually(
      `the endpoint to be ${state}`,
      Effect.promise(async () => (await client.endpoints.get(place)).endpoint.current_state === state),
      { limit: 600_000 }
    )
  return {
    through: (statement: string) => run(uri, port, statement),
    suspend: isIn("active").pipe(
      Effect.andThen(Effect.promise(() => client.endpoints.suspend(place))),
      Effect.andThen(isIn("idle"))
    ),
    remove: Effect.promise(() => client.projects.delete({ project_id: project.id }))
  }
})
