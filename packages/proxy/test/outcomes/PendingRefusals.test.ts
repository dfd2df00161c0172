import { assert, describe, it } from "@effect/vitest"
import { maxRefusals } from "@narthex/api"
import { EndpointId, ProjectId } from "@narthex/core"
import { mostOfProject, PendingRefusals, type RefusedConnection } from "../../src/outcomes/PendingRefusals.ts"

const refused = (address: string, rest: Partial<RefusedConnection> = {}): RefusedConnection => ({
  project_id: ProjectId.make("prj-a"),
  endpoint_id: EndpointId.make("ep-a"),
  address,
  role: undefined,
  reason: "address_not_listed",
  ...rest
})

const addressesOf = (pending: PendingRefusals) => pending.take().map(({ address }) => address)

describe("PendingRefusals", () => {
  it("refusals of one address at one endpoint are one entry, with the reason and the role of the last", () => {
    const pending = new PendingRefusals()
    pending.add(refused("192.0.2.1", { reason: "rules_unknown", role: "role_0000000000000001" }), 10)
    pending.add(refused("192.0.2.1"), 30)
    pending.add(refused("192.0.2.1", { endpoint_id: EndpointId.make("ep-b") }), 40)
    assert.strictEqual(pending.size, 2)
    const { project_id: _, ...same } = refused("192.0.2.1")
    assert.deepStrictEqual(pending.take(), [
      { ...same, count: 2, first: 10, last: 30 },
      { ...same, endpoint_id: EndpointId.make("ep-b"), count: 1, first: 40, last: 40 }
    ])
    assert.deepStrictEqual([pending.size, pending.take()], [0, []])
  })

  it("10,000 refused addresses of one project leave the last ones, and an address that repeats stays", () => {
    const pending = new PendingRefusals()
    for (let n = 0; n < 10_000; n++) {
      pending.add(refused(`10.0.${n >> 8}.${n & 255}`), n)
      if (n % 25 === 0) pending.add(refused("192.0.2.1"), n)
      assert.isAtMost(pending.size, mostOfProject)
    }
    const kept = pending.take()
    assert.lengthOf(kept, mostOfProject)
    assert.strictEqual(kept.find(({ address }) => address === "192.0.2.1")?.count, 400)
    assert.strictEqual(kept.at(-1)?.address, "10.0.39.15")
  })

  it("10,000 refusals at as many projects leave the last ones, and nothing of the others", () => {
    const pending = new PendingRefusals()
    for (let n = 0; n < 10_000; n++) {
      pending.add(
        refused("192.0.2.1", { project_id: ProjectId.make(`prj-${n}`), endpoint_id: EndpointId.make(`ep-${n}`) }),
        n
      )
      assert.isAtMost(pending.projects, maxRefusals)
    }
    const kept = pending.take().map(({ endpoint_id }) => endpoint_id)
    assert.deepStrictEqual(
      kept,
      Array.from({ length: maxRefusals }, (_, n) => EndpointId.make(`ep-${10_000 - maxRefusals + n}`))
    )
  })

  it("a flood at some projects does not hide a single refusal at another, and all entries fit into one report", () => {
    const pending = new PendingRefusals()
    pending.add(refused("192.0.2.1", { project_id: ProjectId.make("prj-quiet") }), 0)
    for (let n = 0; n < 10_000; n++)
      pending.add(refused(`10.0.${n >> 8}.${n & 255}`, { project_id: ProjectId.make(`prj-${n % 20}`) }), n)
    assert.strictEqual(pending.size, maxRefusals)
    const kept = addressesOf(pending)
    assert.lengthOf(kept, maxRefusals)
    assert.include(kept, "192.0.2.1")
  })
})
