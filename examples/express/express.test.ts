import { once } from "node:events"
import { createServer } from "node:http"
import { assert, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import { createControlPlane } from "narthex"
import { makeApp } from "./app.ts"

it("an Express service serves the API and asks the control plane about its own callers", async () => {
  await using cp = await createControlPlane()
  const server = createServer(makeApp(cp))
  await once(server.listen(0, "127.0.0.1"), "listening")
  try {
    const address = server.address()
    const baseUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    const ada = await cp.people.ensure({ subject: "1", email: "ada@example.com", email_verified: true })
    const client = createClient({ baseUrl, credential: await cp.sessions.start(ada) })
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
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
