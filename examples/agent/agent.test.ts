import { assert, it } from "@effect/vitest"
import { createControlPlane } from "narthex"
import { keyForAgent, tryOut } from "./agent.ts"

it("an agent works in a sandbox of its own, and main refuses it", async () => {
  await using cp = await createControlPlane()
  const ada = await cp.people.ensure({ subject: "1", email: "ada@example.com", email_verified: true })
  const person = cp.client(await cp.sessions.start(ada))
  const { operations, project } = await person.projects.create({ name: "shop" })
  for (const operation of operations) await cp.operations.waitFor(operation)

  const agent = cp.client(await keyForAgent(person, project.id))
  const { main, result } = await tryOut(agent, project.id, async (uri) => new URL(uri).protocol)
  assert.strictEqual(result, "postgresql:")
  assert.strictEqual(main, "capability_insufficient")
  assert.strictEqual((await agent.auth.whoami()).capability, "agent")
})
