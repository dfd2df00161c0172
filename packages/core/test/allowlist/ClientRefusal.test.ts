import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration } from "effect"
import { datedRefusals, type RefusalObserved, refusalLimits } from "../../src/records/allowlist/ClientRefusal.ts"
import { anEndpointId, at } from "../../testing/records.ts"

const endpoint_id = anEndpointId()

const observed = (address: string, rest: Partial<RefusalObserved> = {}): RefusalObserved => ({
  endpoint_id,
  address,
  role: null,
  reason: "address_not_listed",
  count: 1,
  first_ms: 0,
  last_ms: 0,
  ...rest
})

const dated = (...refusals: ReadonlyArray<RefusalObserved>) => datedRefusals(refusals, at(1000), "abc")

describe("datedRefusals", () => {
  it("ages become instants, and positions sort as the last instants do", () => {
    const [old, young] = dated(
      observed("192.0.2.1", { first_ms: 9_000, last_ms: 8_000 }),
      observed("192.0.2.2", { first_ms: 7_000, last_ms: 1 })
    )
    assert.deepInclude(old, { first_at: at(991), last_at: at(992) })
    assert.isBelow(String(old?.position).localeCompare(String(young?.position)), 0)
    assert.match(String(old?.position), /^\d{15}-\w{1,48}$/)
  })

  it("entries of one address at one endpoint become one: the sum, both ends, and the reason of the last", () => {
    const [one, ...more] = dated(
      observed("192.0.2.1", { count: 2, first_ms: 900, last_ms: 800, reason: "rules_unknown" }),
      observed("192.0.2.1", { count: 3, first_ms: 500, last_ms: 100 }),
      observed("192.0.2.1", { count: 1, first_ms: 950, last_ms: 950, reason: "rules_unknown" })
    )
    assert.deepStrictEqual(more, [])
    assert.deepInclude(one, { count: 6, reason: "address_not_listed" })
    assert.deepStrictEqual([one?.first_at, one?.last_at], [at(999.05), at(999.9)])
  })

  it("only a name of the form that the platform gives its roles is kept", () => {
    const names = [
      "role_8f3k2m9x1c4v7b0n",
      "postgres",
      "hunter2",
      "",
      "role_8f3k2m9x1c4v7b0n ",
      "ROLE_8f3k2m9x1c4v7b0n"
    ]
    const roles = dated(...names.map((role, n) => observed(`192.0.2.${n}`, { role }))).map(({ role }) => role)
    assert.deepStrictEqual(roles, ["role_8f3k2m9x1c4v7b0n", null, null, null, null, null])
  })

  it("an age beyond the retention is the retention, and the first refusal is never after the last", () => {
    const [ancient, odd] = dated(
      observed("192.0.2.1", { first_ms: Number.MAX_SAFE_INTEGER, last_ms: Number.MAX_SAFE_INTEGER }),
      observed("192.0.2.2", { first_ms: 1, last_ms: 5_000 })
    )
    const oldest = DateTime.subtractDuration(at(1000), Duration.days(Duration.toDays(refusalLimits.retention)))
    assert.deepStrictEqual([ancient?.first_at, ancient?.last_at], [oldest, oldest])
    assert.deepStrictEqual([odd?.first_at, odd?.last_at], [at(995), at(995)])
  })
})
