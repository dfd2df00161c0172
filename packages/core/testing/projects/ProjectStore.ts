/** The contract of `ProjectStore`. Run it against every adapter. */
import { Effect, Option, Result } from "effect"
import { decodeCursor } from "../../src/Page.ts"
import { Project } from "../../src/records/projects/Project.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { anOrgId, aProject, at } from "../records.ts"
import { inTransactionsAtOnce, undone } from "../together.ts"

const inserted = (rest: Partial<Project> = {}) =>
  Effect.gen(function* () {
    const project = aProject(rest)
    yield* (yield* ProjectStore).insert(project)
    return project
  })

export const projectStoreContract = contract<ProjectStore | Transaction>("ProjectStore", (it) => {
  it("a project is stored as it was inserted and updated, and found in its own organization only", () =>
    Effect.gen(function* () {
      const store = yield* ProjectStore
      const project = yield* inserted({ name: "läden" })
      assert.deepStrictEqual(yield* store.find(project.org_id, project.id), Option.some(project))
      assert.deepStrictEqual(yield* store.lock(project.org_id, project.id), Option.some(project))
      assert.deepStrictEqual(yield* store.hold(project.org_id, project.id), Option.some(project))
      assert.deepStrictEqual(yield* store.findAnywhere(project.id), Option.some(project))
      assert.isTrue(Option.isNone(yield* store.find(anOrgId(), project.id)))
      assert.isTrue(Option.isNone(yield* store.lock(anOrgId(), project.id)))
      assert.isTrue(Option.isNone(yield* store.hold(anOrgId(), project.id)))
      const renamed = new Project({ ...project, name: "shops", updated_at: at(1) })
      yield* store.update(renamed)
      assert.deepStrictEqual(yield* store.find(project.org_id, project.id), Option.some(renamed))
    }))

  it("a deleted project is found only where retained rows are asked for, and an update does not restore it", () =>
    Effect.gen(function* () {
      const store = yield* ProjectStore
      const project = yield* inserted()
      yield* store.markDeleted(project.id, at(1))
      yield* store.update(project)
      assert.isTrue(Option.isNone(yield* store.find(project.org_id, project.id)))
      assert.isTrue(Option.isNone(yield* store.lock(project.org_id, project.id)))
      assert.isTrue(Option.isNone(yield* store.hold(project.org_id, project.id)))
      assert.isTrue(Option.isNone(yield* store.findAnywhere(project.id)))
      assert.deepStrictEqual(yield* store.findRetained(project.id), Option.some(project))
      const page = yield* store.list(project.org_id, null, { limit: 10, after: null })
      assert.deepStrictEqual(page, { items: [], next_cursor: null })
    }))

  it("projects of an organization are listed in pages, newest first", () =>
    Effect.gen(function* () {
      const store = yield* ProjectStore
      const org_id = anOrgId()
      const [a, b, c] = [yield* inserted({ org_id }), yield* inserted({ org_id }), yield* inserted({ org_id })]
      yield* inserted()
      const first = yield* store.list(org_id, null, { limit: 2, after: null })
      assert.deepStrictEqual(first.items, [c, b])
      const after = Result.getOrThrow(decodeCursor(first.next_cursor ?? ""))
      assert.deepStrictEqual(yield* store.list(org_id, null, { limit: 2, after }), { items: [a], next_cursor: null })
      assert.deepStrictEqual((yield* store.list(org_id, b.id, { limit: 2, after: null })).items, [b])
      assert.isNull((yield* store.list(org_id, null, { limit: 3, after: null })).next_cursor)
    }))

  it("transactions that lock a project run one after another", () =>
    Effect.gen(function* () {
      const store = yield* ProjectStore
      const project = yield* inserted({ name: "" })
      yield* inTransactionsAtOnce(8, () =>
        Effect.gen(function* () {
          const found = yield* Effect.fromOption(yield* store.lock(project.org_id, project.id))
          yield* store.update(new Project({ ...found, name: `${found.name}x` }))
        })
      )
      const found = yield* store.findAnywhere(project.id)
      assert.deepStrictEqual(
        Option.map(found, (it) => it.name),
        Option.some("x".repeat(8))
      )
    }))

  it("writes to projects are undone with their transaction", () =>
    Effect.gen(function* () {
      const store = yield* ProjectStore
      const [stays, fresh] = [yield* inserted(), aProject()]
      yield* undone(Effect.andThen(store.insert(fresh), store.markDeleted(stays.id, at(1))))
      assert.isTrue(Option.isNone(yield* store.findAnywhere(fresh.id)))
      assert.isTrue(Option.isSome(yield* store.findAnywhere(stays.id)))
    }))
})
