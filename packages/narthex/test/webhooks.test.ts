/** Webhooks of an embedded control plane: it has a key for their secrets, and a worker with connections of its own. */
import { assert, describe, it } from "@effect/vitest"
import { until } from "../../../test/harness/eventually.ts"
import { createControlPlane } from "../src/index.ts"

describe("an embedded control plane", () => {
  it("posts to webhooks by itself, and records why a receiver was not reached", async () => {
    await using cp = await createControlPlane({ log: "off" })
    const session = await cp.sessions.start(await cp.people.ensure({ subject: "ada" }))
    const { webhooks } = cp.client(session)
    const org_id = session.organization.id
    // No name below `invalid` has an address, so nothing leaves the machine but the question.
    const { secret, webhook } = await webhooks.create({ org_id, url: "https://hooks.invalid/" })
    assert.match(secret ?? "", /^whsec_/)
    const params = { org_id, webhook_id: webhook.id }
    await webhooks.test(params)
    const attempts = async () => (await webhooks.deliveries(params)).deliveries
    await until("an attempt to be recorded", async () => (await attempts()).length > 0)
    const [attempt] = await attempts()
    assert.deepInclude(attempt, {
      ...{ outcome: "failed", status: null, event_type: "webhook.test.v1" },
      error: "The name of the receiver was not found."
    })
    assert.strictEqual((await webhooks.get(params)).webhook.failures_count, 1)
  })
})
