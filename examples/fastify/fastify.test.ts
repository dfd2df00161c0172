import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import Fastify, { type FastifyInstance } from "fastify"
import { type ControlPlane, createControlPlane } from "narthex"
import { firstEvent } from "../../test/support/firstEvent.ts"
import { makeApp } from "./app.ts"

/** The other form of the README: a plugin with routes, which reads no bodies. */
const makeRoutes = (cp: ControlPlane): FastifyInstance => {
  const app = Fastify()
  app.register(async (api) => {
    api.removeAllContentTypeParsers()
    api.addContentTypeParser("*", (_request, _payload, done) => done(null))
    api.all("/v1/*", (request, reply) => {
      reply.hijack()
      cp.node(request.raw, reply.raw)
    })
  })
  return app
}

/** Serves while the work runs. The control plane ends the streams, then the service its connections. */
const serving = async (work: (cp: ControlPlane, baseUrl: string) => Promise<void>, make = makeApp) => {
  const cp = await createControlPlane()
  const app = make(cp)
  const baseUrl = await app.listen({ port: 0, host: "127.0.0.1" })
  try {
    await work(cp, baseUrl)
  } finally {
    await cp.close()
    app.server.closeAllConnections()
    await app.close()
  }
}

const signedIn = async (cp: ControlPlane, baseUrl: string) => {
  const ada = await cp.people.ensure({ subject: "1", email: "ada@example.com", email_verified: true })
  return createClient({ baseUrl, credential: await cp.sessions.start(ada) })
}

describe("a Fastify service", () => {
  it("the service serves the API with bodies, and asks the control plane about its own callers", () =>
    serving(async (cp, baseUrl) => {
      const client = await signedIn(cp, baseUrl)
      const { project } = await client.projects.create({ name: "shop" })
      const renamed = await client.projects.rename({ project_id: project.id, name: "store" })
      assert.strictEqual(renamed.project.name, "store")

      const { secret } = await client.apiKeys.create({ name: "ci", capability: "read", scope: `project:${project.id}` })
      const ask = (key: string | null) =>
        fetch(`${baseUrl}/reports/${project.id}`, { headers: { authorization: `Bearer ${key}` } })
      assert.deepStrictEqual(await (await ask(secret)).json(), { report: "…", for: "ada@example.com" })
      const refused = await ask("nsk_forged")
      assert.strictEqual(refused.status, 401)
      assert.strictEqual((await refused.json()).code, "invalid_token")
    }))

  it("paths and methods of the API have its answers, and the service's own bodies are parsed by Fastify", () =>
    serving(async (_, baseUrl) => {
      const status = async (path: string, method: string) => (await fetch(`${baseUrl}${path}`, { method })).status
      assert.strictEqual(await status("/v1/regions", "DELETE"), 405)
      assert.strictEqual(await status("/v1/nothing", "GET"), 404)
      const headers = { "content-type": "application/json" }
      const noted = await fetch(`${baseUrl}/notes`, { method: "POST", headers, body: '{"text":"milk"}' })
      assert.deepStrictEqual(await noted.json(), { noted: "milk" })
    }))

  it("routes of a plugin that reads no bodies serve the API with bodies", () =>
    serving(async (cp, baseUrl) => {
      const { project } = await (await signedIn(cp, baseUrl)).projects.create({ name: "shop" })
      assert.strictEqual(project.name, "shop")
    }, makeRoutes))

  it("an event stream delivers events", () =>
    serving(async (cp, baseUrl) => {
      const client = await signedIn(cp, baseUrl)
      assert.strictEqual(await firstEvent(client), "operation.updated.v1")
    }))
})
