import { assert, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import { createControlPlane } from "narthex"
import { makeApp } from "./app.ts"

it("a Hono service mounts the API below a path, event streams included", async () => {
  await using cp = await createControlPlane({ basePath: "/control" })
  const app = makeApp(cp)
  const ada = await cp.people.ensure({ subject: "1", email: "ada@example.com", email_verified: true })
  const credential = await cp.sessions.start(ada)
  const client = createClient({
    baseUrl: "http://service.test/control",
    credential,
    fetch: async (request) => app.fetch(request)
  })
  const seen = client.events.subscribe({ types: ["operation.updated.v1"] })[Symbol.asyncIterator]()
  const first = seen.next()
  const { operations, project } = await client.projects.create({ name: "shop" })
  for (const operation of operations) await client.operations.waitFor(operation)
  assert.isFalse((await first).done)
  await seen.return?.()

  const usage = (token: string) =>
    app.request(`/projects/${project.id}/usage`, { headers: { authorization: `Bearer ${token}` } })
  assert.deepInclude(await (await usage(credential.access_token)).json(), { rows: 42 })
  assert.strictEqual((await usage("nsk_forged")).status, 401)
})
