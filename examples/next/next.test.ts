import { assert, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import * as api from "./app/api/[...path]/route.ts"
import { GET } from "./app/reports/route.ts"
import { controlPlane } from "./controlPlane.ts"

/** As Next.js chooses the function of a route. */
const route = (request: Request) => (request.method === "GET" ? api.GET(request) : api.POST(request))

it("route handlers in the manner of Next.js serve the API and an endpoint of the application", async () => {
  await using cp = await controlPlane()
  const ada = await cp.people.ensure({ subject: "1", email: "ada@example.com", email_verified: true })
  const credential = await cp.sessions.start(ada)
  const client = createClient({
    baseUrl: "http://app.test/api",
    credential,
    fetch: route
  })
  assert.strictEqual((await client.projects.create({ name: "shop" })).project.name, "shop")

  const reports = (token: string) =>
    GET(new Request("http://app.test/reports", { headers: { authorization: `Bearer ${token}` } }))
  assert.strictEqual((await reports(credential.access_token)).status, 200)
  assert.strictEqual((await (await reports("nsk_forged")).json()).code, "invalid_token")
})
