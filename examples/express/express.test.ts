import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import express from "express"
import express4 from "express4"
import { type ControlPlane, createControlPlane } from "narthex"
import { firstEvent } from "../../test/support/firstEvent.ts"
import { makeApp } from "./app.ts"

/** Serves with the application while the work runs. */
const serving = async (
  make: (cp: ControlPlane) => RequestListener,
  work: (cp: ControlPlane, baseUrl: string) => Promise<void>
) => {
  await using cp = await createControlPlane()
  const server = createServer(make(cp))
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  await work(cp, `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`).finally(() => {
    server.close()
    server.closeAllConnections()
  })
}

const signedIn = async (cp: ControlPlane, baseUrl: string) => {
  const ada = await cp.people.ensure({ subject: "1", email: "ada@example.com", email_verified: true })
  return createClient({ baseUrl, credential: await cp.sessions.start(ada) })
}

it("an Express service serves the API and asks the control plane about its own callers", () =>
  serving(makeApp, async (cp, baseUrl) => {
    const client = await signedIn(cp, baseUrl)
    const [shop, other] = [
      (await client.projects.create({ name: "shop" })).project,
      (await client.projects.create({ name: "other" })).project
    ]
    const { secret } = await client.apiKeys.create({ name: "ci", capability: "read", scope: `project:${shop.id}` })
    const ask = (project: string, key: string | null) =>
      fetch(`${baseUrl}/reports/${project}`, { headers: { authorization: `Bearer ${key}` } })

    assert.deepStrictEqual(await (await ask(shop.id, secret)).json(), { report: "…", for: "ada@example.com" })
    const refused = await ask(other.id, secret)
    assert.strictEqual(refused.status, 403)
    assert.strictEqual((await refused.json()).code, "scope_insufficient")
    assert.strictEqual((await ask(shop.id, "nsk_forged")).status, 401)

    await client.ipAllow.add({ project_id: shop.id, cidr: "203.0.113.0/24" })
    assert.strictEqual((await ask(shop.id, secret)).status, 403)
  }))

const mounted: Readonly<Record<string, (cp: ControlPlane) => RequestListener>> = {
  "Express 5": (cp) => express().use(cp.node),
  "Express 5 after express.json()": (cp) => express().use(express.json(), cp.node),
  "Express 5 below a path": (cp) => express().use("/control", cp.node),
  "Express 4": (cp) => express4().use(cp.node),
  "Express 4 after express.json()": (cp) => express4().use(express4.json(), cp.node),
  "Express 4 below a path": (cp) => express4().use("/control", cp.node)
}

describe("the API mounted in Express", () => {
  for (const [name, make] of Object.entries(mounted))
    it(`${name}: bodies arrive, calls without one are answered, and a stream delivers events`, () =>
      serving(make, async (cp, baseUrl) => {
        const client = await signedIn(cp, name.endsWith("path") ? `${baseUrl}/control` : baseUrl)
        assert.strictEqual(await firstEvent(client), "operation.updated.v1")
        const [project] = (await client.projects.list()).projects
        const project_id = project?.id ?? assert.fail("There is no project.")
        assert.strictEqual((await client.projects.rename({ project_id, name: "store" })).project.name, "store")
        assert.lengthOf((await client.projects.delete({ project_id })).operations, 1)
      }))
})
