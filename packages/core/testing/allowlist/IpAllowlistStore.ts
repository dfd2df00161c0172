/** The contract of `IpAllowlistStore`. Run it against every adapter. */
import { Effect, Option, Result } from "effect"
import { parseCidr } from "../../src/allowlist/Cidr.ts"
import { IpAllowlistStore } from "../../src/allowlist/IpAllowlistStore.ts"
import { IpRule } from "../../src/allowlist/IpRule.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aProjectId, at, aUser } from "../records.ts"
import { inTransactionsAtOnce, undone } from "../together.ts"

const cidr = (text: string) => Result.getOrThrow(parseCidr(text))

const rule = (network: string, label: string, rest: Partial<IpRule> = {}) =>
  new IpRule({
    cidr: cidr(network),
    label,
    created_at: at(0),
    created_by: aUser().ref,
    expires_at: Option.none(),
    ...rest
  })

export const ipAllowlistStoreContract = contract<IpAllowlistStore | Transaction>("IpAllowlistStore", (it) => {
  it("rules are stored as they were put and listed oldest first, expired ones included", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      const rules = [
        rule("10.0.0.0/8", "büro"),
        rule("192.0.2.0/24", "", { created_at: at(-100), expires_at: Option.some(at(-99)) }),
        rule("2001:db8::/32", "six")
      ]
      for (const it of rules) yield* store.put(project, it)
      assert.deepStrictEqual(yield* store.all(project), rules)
      assert.deepStrictEqual(yield* store.lock(project), rules)
    }))

  it("purging removes the rules that have lapsed, and leaves the version and other lists", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const [project, other] = [aProjectId(), aProjectId()]
      const [lapsed, ends, stays] = [
        rule("10.0.0.0/8", "lapsed", { expires_at: Option.some(at(1)) }),
        rule("192.0.2.0/24", "ends", { expires_at: Option.some(at(2)) }),
        rule("2001:db8::/32", "stays")
      ]
      for (const it of [lapsed, ends, stays]) yield* store.put(project, it)
      yield* store.put(other, lapsed)
      const version = yield* store.version(project)
      yield* store.purgeLapsed(project, at(1))
      assert.deepStrictEqual(yield* store.all(project), [ends, stays])
      assert.deepStrictEqual(yield* store.all(other), [lapsed])
      assert.strictEqual(yield* store.version(project), version)
    }))

  it("a list has one rule per network, whatever its spelling, and a replaced rule moves to the end", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      yield* store.put(project, rule("2001:db8::/32", "first"))
      yield* store.put(project, rule("10.0.0.0/8", "other"))
      yield* store.put(project, rule("2001:0DB8:0::/32", "second"))
      assert.deepStrictEqual(
        (yield* store.all(project)).map((it) => it.label),
        ["other", "second"]
      )
    }))

  it("putting a rule returns the rule that it replaces", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      const first = rule("10.0.0.0/8", "first", { expires_at: Option.some(at(1)) })
      assert.isTrue(Option.isNone(yield* store.put(project, first)))
      assert.deepStrictEqual(yield* store.put(project, rule("10.0.0.0/8", "second")), Option.some(first))
    }))

  it("the allowlists of projects are separate", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const [a, b] = [aProjectId(), aProjectId()]
      yield* store.put(a, rule("10.0.0.0/8", "a"))
      yield* store.clear(b)
      assert.isFalse(yield* store.remove(b, cidr("10.0.0.0/8")))
      assert.deepStrictEqual(yield* store.all(b), [])
      assert.lengthOf(yield* store.all(a), 1)
    }))

  it("removing a rule reports whether it existed, and clearing removes all rules", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      yield* store.put(project, rule("10.0.0.0/8", "a"))
      yield* store.put(project, rule("11.0.0.0/8", "b"))
      assert.isTrue(yield* store.remove(project, cidr("10.0.0.0/8")))
      assert.isFalse(yield* store.remove(project, cidr("10.0.0.0/8")))
      assert.lengthOf(yield* store.all(project), 1)
      yield* store.clear(project)
      assert.deepStrictEqual(yield* store.all(project), [])
    }))

  it("every change of the rules increments the version, and nothing else does", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      const versions = [yield* store.version(project)]
      const changes = [
        store.put(project, rule("10.0.0.0/8", "a")),
        store.put(project, rule("10.0.0.0/8", "b")),
        store.remove(project, cidr("10.0.0.0/8")),
        store.put(project, rule("10.0.0.0/8", "c")),
        store.clear(project)
      ]
      for (const change of changes) {
        yield* change
        const version = yield* store.version(project)
        assert.isAbove(version, versions.at(-1) ?? 0)
        versions.push(version)
        yield* store.lock(project)
        yield* undone(store.put(project, rule("12.0.0.0/8", "never")))
        assert.strictEqual(yield* store.version(project), version)
      }
      assert.strictEqual(versions[0], 0)
    }))

  it("several lists are read with their versions, in the requested order", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const [a, b, none] = [aProjectId(), aProjectId(), aProjectId()]
      const [one, two] = [rule("10.0.0.0/8", "one"), rule("11.0.0.0/8", "two", { expires_at: Option.some(at(5)) })]
      for (const it of [one, two]) yield* store.put(b, it)
      yield* store.put(a, one)
      assert.deepStrictEqual(yield* store.lists([b, none, a]), [
        { project_id: b, version: yield* store.version(b), rules: [one, two] },
        { project_id: none, version: 0, rules: [] },
        { project_id: a, version: yield* store.version(a), rules: [one] }
      ])
      assert.deepStrictEqual(yield* store.lists([]), [])
    }))

  it("one of several simultaneous equal networks is the first", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      const former = yield* inTransactionsAtOnce(8, (n) => store.put(project, rule("10.0.0.0/8", `${n}`)))
      assert.strictEqual(former.filter(Option.isNone).length, 1)
      assert.lengthOf(yield* store.all(project), 1)
    }))

  it("transactions that lock an allowlist run one after another, even before its first rule", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      yield* inTransactionsAtOnce(8, (n) =>
        Effect.gen(function* () {
          // At most three: only a lock keeps the count true until the rule is put.
          if ((yield* store.lock(project)).length < 3) yield* store.put(project, rule(`10.${n}.0.0/16`, `${n}`))
        })
      )
      assert.lengthOf(yield* store.all(project), 3)
    }))
})
