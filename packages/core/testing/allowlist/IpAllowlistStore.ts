/** The contract of `IpAllowlistStore`. Run it against every adapter. */
import { Effect, Option, Result } from "effect"
import type { ProjectId } from "../../src/Ids.ts"
import { type Cidr, parseCidr } from "../../src/records/allowlist/Cidr.ts"
import { IpAllowlistStore } from "../../src/records/allowlist/IpAllowlistStore.ts"
import { IpRule } from "../../src/records/allowlist/IpRule.ts"
import { Transaction } from "../../src/Transaction.ts"
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

/** Lists a rule. Answers the version of the list. */
export const listRule = (project: ProjectId, rule: IpRule) =>
  IpAllowlistStore.use(({ change }) =>
    Effect.map(
      change(project, () => Result.succeed({ removed: [], put: Option.some(rule) })),
      ({ version }) => version
    )
  )

/** Removes networks from a list. Answers the version of the list. */
const unlist = (project: ProjectId, ...removed: ReadonlyArray<Cidr>) =>
  IpAllowlistStore.use(({ change }) =>
    Effect.map(
      change(project, () => Result.succeed({ removed, put: Option.none() })),
      ({ version }) => version
    )
  )

/** The version of a list, as it is read with others. */
const versionOf = (project: ProjectId) =>
  IpAllowlistStore.use(({ lists }) => Effect.map(lists([project]), ([list]) => list?.version ?? 0))

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
      for (const it of rules) yield* listRule(project, it)
      assert.deepStrictEqual(yield* store.all(project), rules)
      assert.deepStrictEqual(yield* store.lock(project), rules)
    }))

  it("a list has one rule per network, whatever its spelling, and a replaced rule moves to the end", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      yield* listRule(project, rule("2001:db8::/32", "first"))
      yield* listRule(project, rule("10.0.0.0/8", "other"))
      yield* listRule(project, rule("2001:0DB8:0::/32", "second"))
      assert.deepStrictEqual(
        (yield* store.all(project)).map((it) => it.label),
        ["other", "second"]
      )
    }))

  it("a change is decided by every stored rule, and answers the decision with the version of the list", () =>
    Effect.gen(function* () {
      const { change } = yield* IpAllowlistStore
      const project = aProjectId()
      const first = rule("10.0.0.0/8", "first", { expires_at: Option.some(at(1)) })
      yield* listRule(project, first)
      const edit = { removed: [first.cidr], put: Option.some(rule("192.0.2.0/24", "second")), about: "both" }
      const seen: Array<ReadonlyArray<IpRule>> = []
      const changed = yield* change(project, (rules) => {
        seen.push(rules)
        return Result.succeed(edit)
      })
      assert.deepStrictEqual(seen, [[first]])
      assert.deepStrictEqual(changed, { edit, version: yield* versionOf(project) })
      assert.deepStrictEqual(yield* (yield* IpAllowlistStore).all(project), Option.toArray(edit.put))
    }))

  it("a change may remove a network and put a rule for it", () =>
    Effect.gen(function* () {
      const { all, change } = yield* IpAllowlistStore
      const project = aProjectId()
      const [lapsed, again] = [rule("10.0.0.0/8", "lapsed"), rule("10.0.0.0/8", "again")]
      yield* listRule(project, lapsed)
      yield* change(project, () => Result.succeed({ removed: [lapsed.cidr], put: Option.some(again) }))
      assert.deepStrictEqual(yield* all(project), [again])
    }))

  it("a refused change changes nothing", () =>
    Effect.gen(function* () {
      const { all, change } = yield* IpAllowlistStore
      const project = aProjectId()
      const version = yield* listRule(project, rule("10.0.0.0/8", "first"))
      assert.strictEqual(yield* Effect.flip(change(project, () => Result.fail("no" as const))), "no")
      assert.lengthOf(yield* all(project), 1)
      assert.strictEqual(yield* versionOf(project), version)
    }))

  it("a refusal that is caught leaves the transaction around it as it is", () =>
    Effect.gen(function* () {
      const { all, change } = yield* IpAllowlistStore
      const { run } = yield* Transaction
      const project = aProjectId()
      const first = rule("10.0.0.0/8", "first")
      yield* run(
        Effect.gen(function* () {
          yield* listRule(project, first)
          assert.strictEqual(yield* Effect.flip(change(project, () => Result.fail("no" as const))), "no")
        })
      )
      assert.deepStrictEqual(yield* all(project), [first])
      assert.strictEqual(yield* versionOf(project), 1)
    }))

  it("the allowlists of projects are separate", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const [a, b] = [aProjectId(), aProjectId()]
      yield* listRule(a, rule("10.0.0.0/8", "a"))
      yield* unlist(b, cidr("10.0.0.0/8"))
      assert.deepStrictEqual(yield* store.all(b), [])
      assert.lengthOf(yield* store.all(a), 1)
    }))

  it("removing networks removes their rules and keeps the others", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      const rules = ["10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8", "2001:db8::/32"].map((network) => rule(network, ""))
      for (const it of rules) yield* listRule(project, it)
      yield* unlist(project, cidr("11.0.0.0/8"), cidr("2001:db8::/32"), cidr("13.0.0.0/8"))
      assert.deepStrictEqual(yield* store.all(project), [rules[0], rules[2]])
    }))

  it("every change of the rules increments the version, and nothing else does", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      assert.strictEqual(yield* versionOf(project), 0)
      const changes = [
        listRule(project, rule("10.0.0.0/8", "a")),
        listRule(project, rule("10.0.0.0/8", "b")),
        unlist(project, cidr("10.0.0.0/8")),
        listRule(project, rule("10.0.0.0/8", "c"))
      ]
      let before = 0
      for (const change of changes) {
        const version = yield* change
        assert.isAbove(version, before)
        assert.strictEqual(yield* versionOf(project), version)
        yield* store.lock(project)
        yield* undone(listRule(project, rule("12.0.0.0/8", "never")))
        assert.strictEqual(yield* versionOf(project), version)
        before = version
      }
    }))

  it("several lists are read with their versions, in the requested order", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const [a, b, none] = [aProjectId(), aProjectId(), aProjectId()]
      const [one, two] = [rule("10.0.0.0/8", "one"), rule("11.0.0.0/8", "two", { expires_at: Option.some(at(5)) })]
      for (const it of [one, two]) yield* listRule(b, it)
      yield* listRule(a, one)
      assert.deepStrictEqual(yield* store.lists([b, none, a]), [
        { project_id: b, version: yield* versionOf(b), rules: [one, two] },
        { project_id: none, version: 0, rules: [] },
        { project_id: a, version: yield* versionOf(a), rules: [one] }
      ])
      assert.deepStrictEqual(yield* store.lists([]), [])
    }))

  it("simultaneous changes are decided one after another, even before the first rule", () =>
    Effect.gen(function* () {
      const { all, change } = yield* IpAllowlistStore
      const project = aProjectId()
      const seen = yield* inTransactionsAtOnce(8, (n) =>
        Effect.map(
          change(project, (rules) =>
            Result.succeed({
              removed: [],
              put: Option.some(rule(rules.length < 3 ? `10.${n}.0.0/16` : "11.0.0.0/8", `${n}`)),
              length: rules.length
            })
          ),
          ({ edit, version }) => [version, edit.length]
        )
      )
      assert.deepStrictEqual(
        seen.toSorted(([a = 0], [b = 0]) => a - b),
        [0, 1, 2, 3, 4, 4, 4, 4].map((length, index) => [index + 1, length])
      )
      assert.lengthOf(yield* all(project), 4)
    }))

  it("transactions that lock an allowlist run one after another, even before its first rule", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      yield* inTransactionsAtOnce(8, (n) =>
        Effect.gen(function* () {
          // At most three: only a lock keeps the count true until the rule is put.
          if ((yield* store.lock(project)).length < 3) yield* listRule(project, rule(`10.${n}.0.0/16`, `${n}`))
        })
      )
      assert.lengthOf(yield* store.all(project), 3)
    }))
})
