import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { IpAllowlistStore } from "../../src/records/allowlist/IpAllowlistStore.ts"
import { IpRule } from "../../src/records/allowlist/IpRule.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { IpAllowlist, maxRules } from "../../src/services/allowlist/IpAllowlist.ts"
import { aProject, aUser } from "../../testing/records.ts"
import { onMemory } from "../onMemory.ts"

const project = aProject()
const stores = onMemory(Layer.merge(IpAllowlistStore.layerMemory, ProjectStore.layerMemory))
const projectExists = Layer.effectDiscard(ProjectStore.use(({ insert }) => insert(project)))
const TestLayer = Layer.merge(IpAllowlist.layer, projectExists).pipe(Layer.provideMerge(stores))
const ada = aUser().ref
const office = { cidr: "203.0.113.0/24", label: "office" }
const inside = "203.0.113.9"
const outside = "198.51.100.1"

const permits = (address: string) =>
  Effect.gen(function* () {
    return (yield* (yield* IpAllowlist).check(project.id, address)).allowed
  })

describe("IpAllowlist", () => {
  it.effect("an empty list restricts nothing", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* permits(outside))
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("one rule refuses every unlisted address, and a check names the matching rule", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      yield* allowlist.add(project, office, ada)
      assert.deepStrictEqual(
        { ...(yield* allowlist.check(project.id, inside)) },
        { allowed: true, matched: office.cidr }
      )
      assert.deepStrictEqual({ ...(yield* allowlist.check(project.id, outside)) }, { allowed: false, matched: null })
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("the project opens at the instant at which its last rule expires", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const { rule } = yield* allowlist.add(project, { ...office, ttl_seconds: 60 }, ada)
      assert.deepStrictEqual((yield* allowlist.list(project.id)).opens_at, rule.expires_at)
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(yield* permits(outside))
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* permits(outside))
      const { opens_at, restricted, rules } = yield* allowlist.list(project.id)
      assert.deepStrictEqual({ opens_at, restricted, rules }, { opens_at: Option.none(), restricted: false, rules: [] })
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("opens_at is the latest expiry of the rules, and absent when a rule does not expire", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      yield* allowlist.add(project, { ...office, ttl_seconds: 60 }, ada)
      const vpn = { cidr: "10.0.0.0/8", label: "vpn", ttl_seconds: 90 }
      const last = yield* allowlist.add(project, vpn, ada)
      assert.deepStrictEqual((yield* allowlist.list(project.id)).opens_at, last.rule.expires_at)
      yield* allowlist.add(project, { cidr: "192.0.2.0/24" }, ada)
      assert.isTrue(Option.isNone((yield* allowlist.list(project.id)).opens_at))
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("refused_family is the family without a rule, while a rule lists every address of the other", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const family = Effect.map(allowlist.list(project.id), ({ refused_family }) => refused_family)
      assert.isNull(yield* family)
      yield* allowlist.add(project, office, ada)
      assert.isNull(yield* family, "a list of some networks is meant to refuse the others")
      yield* allowlist.add(project, { cidr: "0.0.0.0/0", ttl_seconds: 60 }, ada)
      assert.strictEqual(yield* family, "ipv6")
      assert.isFalse(yield* permits("2001:db8::1"))
      yield* allowlist.add(project, { cidr: "2001:db8::/32" }, ada)
      assert.isNull(yield* family)
      yield* allowlist.remove(project, "2001:db8::/32")
      yield* TestClock.adjust("60 seconds")
      assert.isNull(yield* family, "an expired rule lists no address")
      yield* allowlist.reset(project)
      yield* allowlist.add(project, { cidr: "::/0" }, ada)
      assert.strictEqual(yield* family, "ipv4")
      assert.isFalse(yield* permits(inside))
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("adding a network again replaces its rule while that is in force", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const add = Effect.map(allowlist.add(project, { ...office, ttl_seconds: 60 }, ada), (added) => added.replaced)
      assert.isFalse(yield* add)
      assert.isTrue(yield* add)
      yield* TestClock.adjust("60 seconds")
      assert.isFalse(yield* add)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("adding an address without a prefix is refused, removing one removes its single-address network", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const error = yield* Effect.flip(allowlist.add(project, { cidr: "203.0.113.7" }, ada))
      assert.strictEqual(error._tag, "MalformedCidr")
      yield* allowlist.add(project, { cidr: "203.0.113.7/32" }, ada)
      yield* allowlist.remove(project, "203.0.113.7")
      assert.isFalse((yield* allowlist.list(project.id)).restricted)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("removing an absent or expired rule is an error", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const absent = yield* Effect.flip(allowlist.remove(project, "10.0.0.0/8"))
      assert.strictEqual(absent._tag, "IpRuleNotFound")
      yield* allowlist.add(project, { ...office, ttl_seconds: 60 }, ada)
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* Effect.flip(allowlist.remove(project, office.cidr)))._tag, "IpRuleNotFound")
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("removing an empty text removes nothing", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      yield* allowlist.add(project, office, ada)
      assert.strictEqual((yield* Effect.flip(allowlist.remove(project, "")))._tag, "IpRuleNotFound")
      assert.isTrue((yield* allowlist.list(project.id)).restricted)
      yield* allowlist.reset(project)
      assert.isFalse((yield* allowlist.list(project.id)).restricted)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("a full list refuses another network, and a listed one can still be replaced", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const nth = (n: number) => ({ cidr: `10.${n >> 8}.${n & 255}.0/24` })
      for (let n = 0; n < maxRules; n++) yield* allowlist.add(project, nth(n), ada)
      assert.strictEqual((yield* Effect.flip(allowlist.add(project, nth(maxRules), ada)))._tag, "Conflict")
      assert.isTrue((yield* allowlist.add(project, nth(0), ada)).replaced)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("a rule is encoded as plain JSON", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const { rule } = yield* allowlist.add(project, office, ada)
      const json = yield* Schema.encodeEffect(Schema.toCodecJson(IpRule))(rule)
      assert.deepStrictEqual(json as unknown, {
        cidr: "203.0.113.0/24",
        label: "office",
        created_at: "1970-01-01T00:00:00.000Z",
        created_by: { id: ada.id, email: ada.email },
        expires_at: null
      })
    }).pipe(Effect.provide(TestLayer))
  )
})
