/** The contract of `BranchStore`. Run it against every adapter. */
import { Effect, Option } from "effect"
import { Branch } from "../../src/records/projects/Branch.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranch, aProjectId, aStoredKey, at, aUser } from "../records.ts"
import { inTransactionsAtOnce, undone } from "../together.ts"

export const branchStoreContract = contract<BranchStore | Transaction>("BranchStore", (it) => {
  it("a branch is stored as it was put, and found in its own project only", () =>
    Effect.gen(function* () {
      const store = yield* BranchStore
      const project = aProjectId()
      const { key } = aStoredKey()
      const made = { made_by_agent: true, made_by_key_id: key.id, created_by: aUser().ref }
      const branch = aBranch(project, { default: true, pending_state: "ready", ...made })
      assert.isTrue(yield* store.put(branch))
      assert.deepStrictEqual(yield* store.find(project, branch.id), Option.some(branch))
      assert.deepStrictEqual(yield* store.lock(project, branch.id), Option.some(branch))
      assert.deepStrictEqual(yield* store.findAnywhere(branch.id), Option.some(branch))
      assert.isTrue(Option.isNone(yield* store.find(aProjectId(), branch.id)))
      assert.isTrue(Option.isNone(yield* store.lock(aProjectId(), branch.id)))
      const changed = new Branch({ ...branch, pending_state: null, expires_at: at(9), protected: true })
      assert.isTrue(yield* store.put(changed))
      assert.deepStrictEqual(yield* store.find(project, branch.id), Option.some(changed))
    }))

  it("exactly one of several simultaneous branches gets a name", () =>
    Effect.gen(function* () {
      const store = yield* BranchStore
      const project = aProjectId()
      const named = yield* inTransactionsAtOnce(8, () => store.put(aBranch(project, { name: "dev" })))
      assert.strictEqual(named.filter((it) => it).length, 1)
      assert.isTrue(yield* store.put(aBranch(aProjectId(), { name: "dev" })))
      assert.isTrue(yield* store.put(aBranch(project, { name: "Dev" })))
    }))

  it("renaming a branch to a taken name is refused, and the transaction continues", () =>
    Effect.gen(function* () {
      const store = yield* BranchStore
      const project = aProjectId()
      const [a, b] = [aBranch(project), aBranch(project)]
      yield* store.put(a)
      yield* store.put(b)
      const [renamed] = yield* inTransactionsAtOnce(1, () =>
        Effect.gen(function* () {
          const refused = yield* store.put(new Branch({ ...b, name: a.name }))
          return [refused, yield* store.put(new Branch({ ...b, protected: true }))]
        })
      )
      assert.deepStrictEqual(renamed, [false, true])
      const found = yield* store.find(project, b.id)
      assert.deepStrictEqual(
        Option.map(found, (it) => [it.name, it.protected]),
        Option.some([b.name, true])
      )
    }))

  it("a deleted branch is not found again, and its name is free", () =>
    Effect.gen(function* () {
      const store = yield* BranchStore
      const project = aProjectId()
      const branch = aBranch(project, { name: "dev", expires_at: at(-1) })
      yield* store.put(branch)
      yield* store.markDeleted(branch.id, at(1))
      assert.isTrue(yield* store.put(aBranch(project, { name: "dev" })))
      assert.isTrue(yield* store.put(branch))
      assert.isTrue(Option.isNone(yield* store.find(project, branch.id)))
      assert.isTrue(Option.isNone(yield* store.lock(project, branch.id)))
      assert.isTrue(Option.isNone(yield* store.findAnywhere(branch.id)))
      assert.deepStrictEqual(yield* store.findRetained(branch.id), Option.some(branch))
      assert.notDeepInclude(
        (yield* store.expired(at(0), 1000)).map((it) => it.id),
        branch.id
      )
      assert.lengthOf((yield* store.list(project, null, { limit: 10, after: null })).items, 1)
    }))

  it("branches of a project are listed in pages, newest first", () =>
    Effect.gen(function* () {
      const store = yield* BranchStore
      const project = aProjectId()
      const [a, b, c] = [aBranch(project), aBranch(project), aBranch(project)]
      for (const branch of [b, c, a]) yield* store.put(branch)
      const first = yield* store.list(project, null, { limit: 2, after: null })
      assert.deepStrictEqual(first.items, [c, b])
      assert.isNotNull(first.next_cursor)
      assert.deepStrictEqual((yield* store.list(project, null, { limit: 2, after: b.id })).items, [a])
      assert.deepStrictEqual((yield* store.list(project, b.id, { limit: 2, after: null })).items, [b])
    }))

  it("a branch has children while one of them is not deleted", () =>
    Effect.gen(function* () {
      const store = yield* BranchStore
      const project = aProjectId()
      const parent = aBranch(project)
      const child = aBranch(project, { parent_id: parent.id })
      yield* store.put(parent)
      assert.isFalse(yield* store.hasChildren(parent.id))
      yield* store.put(child)
      assert.isTrue(yield* store.hasChildren(parent.id))
      yield* store.markDeleted(child.id, at(1))
      assert.isFalse(yield* store.hasChildren(parent.id))
    }))

  it("expired branches are found, up to a limit", () =>
    Effect.gen(function* () {
      const store = yield* BranchStore
      const project = aProjectId()
      const over = [aBranch(project, { expires_at: at(-100) }), aBranch(project, { expires_at: at(-99) })]
      for (const branch of [...over, aBranch(project, { expires_at: at(-98) }), aBranch(project)])
        yield* store.put(branch)
      const found = yield* store.expired(at(-99), 1000)
      assert.deepStrictEqual(
        found.map((it) => it.id).toSorted(),
        over.map((it) => it.id)
      )
      assert.lengthOf(yield* store.expired(at(-99), 1), 1)
    }))

  it("transactions that lock a branch run one after another, and a rollback undoes their writes", () =>
    Effect.gen(function* () {
      const store = yield* BranchStore
      const branch = aBranch(aProjectId(), { name: "a" })
      yield* store.put(branch)
      yield* inTransactionsAtOnce(8, () =>
        Effect.gen(function* () {
          const found = yield* Effect.fromOption(yield* store.lock(branch.project_id, branch.id))
          yield* store.put(new Branch({ ...found, name: `${found.name}x` }))
        })
      )
      yield* undone(store.markDeleted(branch.id, at(1)))
      const found = yield* store.findAnywhere(branch.id)
      assert.deepStrictEqual(
        Option.map(found, (it) => it.name),
        Option.some(`a${"x".repeat(8)}`)
      )
    }))
})
