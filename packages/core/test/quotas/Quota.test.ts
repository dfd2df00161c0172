import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Amounts,
  allowedOf,
  defaultQuotas,
  firstExceeded,
  QuotaExceeded,
  type QuotaSettings,
  quotaNames
} from "../../src/records/quotas/Quota.ts"

const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const Percent = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

/** Settings with one number for every quota. */
const every = (amount: number, personal_percent: number): QuotaSettings => ({
  ...(Object.fromEntries(quotaNames.map((quota) => [quota, amount])) as unknown as Amounts),
  personal_percent
})

describe("quotas", () => {
  it.prop(
    "nothing is added beyond what is allowed, and everything up to it",
    [Amount, Amount, Amount],
    ([held, added, allowed]) => {
      const exceeded = firstExceeded([{ quota: "projects", held, allowed }], { projects: added })
      assert.strictEqual(exceeded !== undefined, added > 0 && held + added > allowed)
    }
  )

  it.prop(
    "additions one by one end exactly at what is allowed",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 }))],
    ([allowed]) => {
      let held = 0
      while (firstExceeded([{ quota: "branches", held, allowed }], { branches: 1 }) === undefined) held += 1
      assert.strictEqual(held, allowed)
    }
  )

  it.prop(
    "a personal organization may have its share, at least 1, and never more than a team",
    [Amount, Percent],
    ([amount, percent]) => {
      const settings = every(Math.max(1, amount), percent)
      for (const quota of quotaNames) {
        const team = allowedOf(settings, { personal: false, overrides: {} }, quota)
        const personal = allowedOf(settings, { personal: true, overrides: {} }, quota)
        assert.isAtLeast(personal, 1)
        assert.isAtMost(personal, team)
        if (quota === "organizations") assert.strictEqual(personal, team)
        else assert.strictEqual(personal, Math.max(1, Math.floor((team * percent) / 100)))
      }
    }
  )

  it.prop(
    "the operator's number applies whatever the settings are, 0 included",
    [Amount, Amount, Percent, Schema.Boolean],
    ([amount, override, percent, personal]) => {
      for (const quota of quotaNames)
        assert.strictEqual(
          allowedOf(every(amount, percent), { personal, overrides: { [quota]: override } }, quota),
          override
        )
    }
  )

  it("a refusal names the first of several exceeded quotas in their order", () => {
    const usage = quotaNames.map((quota) => ({ quota, held: 1, allowed: 1 }))
    assert.strictEqual(firstExceeded(usage, { sandboxes: 1, branches: 1 })?.quota, "branches")
    assert.isUndefined(firstExceeded(usage, {}))
  })

  it("every refusal says what is held, how much is allowed, and what to do", () => {
    for (const quota of quotaNames) {
      const { message } = new QuotaExceeded({ quota, held: 3 * 1024 ** 3, allowed: 2 * 1024 ** 3 })
      assert.match(message, /^[A-Z].+; its quota is .+\. [A-Z].+, or ask the operator for a higher quota\.$/)
      if (quota === "disk_bytes") assert.include(message, "takes 3 GiB; its quota is 2 GiB")
    }
    const { message } = new QuotaExceeded({ quota: "projects", held: 20, allowed: 20 })
    assert.strictEqual(
      message,
      "The organization has 20 projects; its quota is 20. Delete a project, or ask the operator for a higher quota."
    )
  })

  it("every default is at least 1 for a personal organization", () => {
    for (const quota of quotaNames) assert.isAtLeast((defaultQuotas[quota] * defaultQuotas.personal_percent) / 100, 1)
  })
})
