/** Expired rules have no effect; and the edge cases of networks. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { contains, parseCidr, parseCidrOrAddress } from "../../src/records/allowlist/Cidr.ts"
import { IpAllowlistStore } from "../../src/records/allowlist/IpAllowlistStore.ts"
import { IpAllowlist, maxRules } from "../../src/services/allowlist/IpAllowlist.ts"
import { aUser } from "../../testing/records.ts"
import { Core, logged } from "../memory/core.ts"
import { insertedProject } from "./insertedProject.ts"

const ada = aUser().ref
const rule = (cidr: string, ttl_seconds: number | null = null) => ({ cidr, ttl_seconds })

describe("An expired rule", () => {
  it.effect("an expired rule matches nothing while another rule is in force", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const project = yield* insertedProject
      yield* allowlist.add(project, rule("203.0.113.0/24", 60), ada)
      yield* allowlist.add(project, rule("198.51.100.0/24"), ada)
      assert.deepInclude({ ...(yield* allowlist.check(project.id, "203.0.113.9")) }, { allowed: true })
      yield* TestClock.adjust("60 seconds")
      const late = yield* allowlist.check(project.id, "203.0.113.9")
      assert.deepStrictEqual({ ...late }, { allowed: false, matched: null })
    }).pipe(Effect.provide(Core))
  )

  it.effect("an expired rule does not count toward the limit", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const project = yield* insertedProject
      for (let n = 0; n < maxRules; n++)
        yield* allowlist.add(project, rule(`10.${n >> 8}.${n & 255}.0/24`, n === 0 ? 60 : null), ada)
      const another = Effect.result(allowlist.add(project, rule("203.0.113.0/24"), ada))
      assert.isTrue(Result.isFailure(yield* another))
      yield* TestClock.adjust("60 seconds")
      assert.isTrue(Result.isSuccess(yield* another))
      assert.lengthOf(yield* (yield* IpAllowlistStore).all(project.id), maxRules, "it is not stored any more either")
    }).pipe(Effect.provide(Core))
  )
})

describe("A list of several networks", () => {
  it.effect("a list of several networks admits an address that any of them contains", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const project = yield* insertedProject
      for (const cidr of ["203.0.113.0/24", "198.51.100.0/24", "2001:db8::/32"])
        yield* allowlist.add(project, rule(cidr), ada)
      const allowed = (address: string) => Effect.map(allowlist.check(project.id, address), (check) => check.allowed)
      const asked = ["203.0.113.1", "198.51.100.1", "2001:db8::1", "192.0.2.1"]
      assert.deepStrictEqual(yield* Effect.forEach(asked, allowed), [true, true, true, false])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a change event names the project and its organization", () =>
    Effect.gen(function* () {
      const project = yield* insertedProject
      yield* (yield* IpAllowlist).add(project, rule("203.0.113.0/24"), ada)
      const [change] = (yield* logged).filter(({ type }) => type === "internal.allowlist_changed.v1")
      assert.deepInclude(change, { org_id: project.org_id, project_id: project.id })
    }).pipe(Effect.provide(Core))
  )
})

describe("A network", () => {
  it("the network of all IPv4-mapped addresses becomes 0.0.0.0/0, and a wider one is refused", () => {
    assert.strictEqual(Result.getOrThrow(parseCidr("::ffff:0.0.0.0/96")), "0.0.0.0/0")
    assert.isTrue(Result.isFailure(parseCidr("::ffff:0.0.0.0/95")))
  })

  it.each(["10.0.0.0/8/8", "10.0.0.0/8/", "fe80::1%eth0/64", "fe80::1%eth0"])("%j is not a network", (text) => {
    assert.isTrue(Result.isFailure(parseCidrOrAddress(text)))
  })

  it("a network contains no address with a zone", () => {
    assert.isFalse(contains(Result.getOrThrow(parseCidr("fe80::/64")), "fe80::1%eth0"))
  })
})
