/** The contract of `BranchRoleStore`. Run it against every adapter. */
import { Effect, Option } from "effect"
import { ApiKeyId, BranchId } from "../../src/Ids.ts"
import { BranchRole } from "../../src/records/projects/BranchRole.ts"
import { BranchRoleStore, type RolesToEnd } from "../../src/records/projects/BranchRoleStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, aBranchRole, anOrgId, aProjectId, at, aUser } from "../records.ts"
import { atOnce, undone } from "../together.ts"

const names = (roles: ReadonlyArray<BranchRole>) => roles.map((it) => it.role)

/** The key of the cases that revoke. */
const theKey = ApiKeyId.make("key-revoked")

export const branchRoleStoreContract = contract<BranchRoleStore | Transaction>("BranchRoleStore", (it) => {
  it("valid roles of a branch are listed oldest first", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const branch = aBranchId()
      const young = aBranchRole(branch, { created_at: at(2), expires_at: at(11) })
      const old = aBranchRole(branch, { created_at: at(1), access: "read_only" })
      const gone = [
        aBranchRole(branch, { expires_at: at(10) }),
        aBranchRole(branch, { revoked_at: at(3) }),
        aBranchRole(aBranchId())
      ]
      for (const role of [young, ...gone, old]) yield* store.insert(role)
      assert.deepStrictEqual(yield* store.valid(branch, at(10)), [old, young])
    }))

  it("two branches may have roles of the same name", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const [one, two] = [aBranchRole(aBranchId(), { role: "app" }), aBranchRole(aBranchId(), { role: "app" })]
      yield* store.insert(one)
      yield* store.insert(two)
      assert.deepStrictEqual(yield* store.valid(one.branch_id, at(0)), [one])
      assert.deepStrictEqual(yield* store.valid(two.branch_id, at(0)), [two])
    }))

  it("read-write roles that agents minted are revoked once, and no others", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const branch = aBranchId()
      const reader = aBranchRole(branch, { minted_by_agent: true, access: "read_only" })
      const person = aBranchRole(branch)
      const elsewhere = aBranchRole(aBranchId(), { minted_by_agent: true })
      for (const role of [
        aBranchRole(branch, { minted_by_agent: true }),
        aBranchRole(branch, { minted_by_agent: true }),
        reader,
        person,
        elsewhere
      ])
        yield* store.insert(role)
      yield* undone(store.revokeAgentRoles(branch, at(1)))
      assert.lengthOf(yield* store.valid(branch, at(2)), 4)
      const ended = yield* atOnce(3, () => store.revokeAgentRoles(branch, at(1)))
      assert.deepStrictEqual(ended.toSorted(), [0, 0, 2])
      assert.deepStrictEqual(names(yield* store.valid(branch, at(2))).toSorted(), names([person, reader]).toSorted())
      assert.deepStrictEqual(names(yield* store.valid(elsewhere.branch_id, at(2))), [elsewhere.role])
    }))

  it("a role is found by its branch and its name", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const role = aBranchRole(aBranchId(), { api_key_id: ApiKeyId.make("key-1"), api_key_name: "ci" })
      yield* store.insert(role)
      assert.deepStrictEqual(yield* store.find(role.branch_id, role.role), Option.some(role))
      assert.isTrue(Option.isNone(yield* store.find(aBranchId(), role.role)))
      assert.isTrue(Option.isNone(yield* store.find(role.branch_id, "role_unknown")))
    }))

  it("a page of roles holds at most its limit, newest first, and the next page continues behind it", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const branch = aBranchId()
      // Two of them have the same instant: the name decides.
      const made = (seconds: number) => aBranchRole(branch, { created_at: at(seconds) })
      const [one, two, three, four] = [made(1), made(2), made(2), made(3)]
      const removed = aBranchRole(branch, { created_at: at(4), removed_at: at(5) })
      for (const role of [two, four, removed, one, three, aBranchRole(aBranchId())]) yield* store.insert(role)
      const first = yield* store.list(branch, null, { limit: 2, after: null })
      assert.deepStrictEqual(first, [four, three])
      const after = first[1] ?? assert.fail("no second role")
      assert.deepStrictEqual(yield* store.list(branch, null, { limit: 2, after }), [two, one])
    }))

  it("a list is limited to the roles of a person or of a key", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const branch = aBranchId()
      const [ada, key] = [aUser().ref, ApiKeyId.make("key-of-ada")]
      const mine = aBranchRole(branch, { minted_by: ada, created_at: at(1) })
      const byKey = aBranchRole(branch, { minted_by: ada, api_key_id: key, created_at: at(2) })
      const unknown = aBranchRole(branch, { minted_by: null, org_id: null, created_at: at(3) })
      for (const role of [mine, byKey, unknown, aBranchRole(branch)]) yield* store.insert(role)
      const page = { limit: 10, after: null }
      assert.deepStrictEqual(yield* store.list(branch, { user_id: ada.id }, page), [byKey, mine])
      assert.deepStrictEqual(yield* store.list(branch, { api_key_id: key }, page), [byKey])
      assert.lengthOf(yield* store.list(branch, null, page), 4)
    }))

  it("a member's roles are counted, and the newest are shown", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const [org_id, minted_by] = [anOrgId(), aUser().ref]
      const held = [1, 2, 3].map((seconds) => aBranchRole(aBranchId(), { org_id, minted_by, created_at: at(seconds) }))
      const others = [
        aBranchRole(aBranchId(), { org_id, minted_by, expires_at: at(9) }),
        aBranchRole(aBranchId(), { org_id, minted_by, revoked_at: at(9) }),
        aBranchRole(aBranchId(), { org_id }),
        aBranchRole(aBranchId(), { minted_by })
      ]
      for (const role of [...held, ...others]) yield* store.insert(role)
      assert.deepStrictEqual(yield* store.ofMember(org_id, minted_by.id, at(9), 2), {
        count: 3,
        roles: held.slice(1).toReversed()
      })
      assert.deepStrictEqual(yield* store.ofMember(anOrgId(), minted_by.id, at(9), 2), { count: 0, roles: [] })
    }))

  const ends: ReadonlyArray<
    readonly [what: string, which: (role: BranchRole) => RolesToEnd, other: Partial<BranchRole>]
  > = [
    ["a branch", ({ branch_id }) => ({ branch_id }), { branch_id: aBranchId() }],
    ["a branch and name", ({ branch_id, role }) => ({ branch_id, role }), { role: "role_another00000000" }],
    ["a project", ({ project_id }) => ({ project_id }), { project_id: aProjectId() }],
    ["a key", () => ({ api_key_ids: [theKey] }), { api_key_id: ApiKeyId.make("key-other") }],
    ["a person", ({ minted_by }) => ({ user_id: minted_by?.id ?? aUser().id }), { minted_by: aUser().ref }],
    [
      "a member of an organization",
      ({ minted_by, org_id }) => ({ user_id: minted_by?.id ?? aUser().id, org_id: org_id ?? anOrgId() }),
      { org_id: anOrgId() }
    ],
    [
      "a member's access",
      ({ access, minted_by, org_id }) => ({
        user_id: minted_by?.id ?? aUser().id,
        org_id: org_id ?? anOrgId(),
        access
      }),
      { access: "read_only" }
    ]
  ]
  for (const [whose, which, other] of ends)
    it(`revoking the roles of ${whose} ends those and no others, once`, () =>
      Effect.gen(function* () {
        const store = yield* BranchRoleStore
        const mine = aBranchRole(aBranchId(), { api_key_id: theKey, minted_by: aUser().ref })
        const another = new BranchRole({ ...mine, role: aBranchRole(mine.branch_id).role, ...other })
        for (const role of [mine, another]) yield* store.insert(role)
        yield* undone(store.revoke(which(mine), at(1)))
        assert.lengthOf(yield* store.valid(mine.branch_id, at(2)), another.branch_id === mine.branch_id ? 2 : 1)
        const ended = yield* atOnce(3, () => store.revoke(which(mine), at(1)))
        assert.deepStrictEqual(ended.toSorted(), [0, 0, 1])
        const found = Option.getOrThrow(yield* store.find(mine.branch_id, mine.role))
        assert.deepStrictEqual(found.revoked_at, at(1))
        assert.isNull(Option.getOrThrow(yield* store.find(another.branch_id, another.role)).revoked_at)
        // The key is the same in each case.
        yield* store.revoke({ branch_id: another.branch_id }, at(2))
      }))

  it("valid roles that are handed over belong to the other person, and to no key", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const [org_id, from, to] = [anOrgId(), aUser().ref, aUser().ref]
      const given = { org_id, minted_by: from, api_key_id: ApiKeyId.make("key-1"), api_key_name: "ci" }
      const role = aBranchRole(aBranchId(), given)
      const others = [
        aBranchRole(aBranchId(), { ...given, expires_at: at(1) }),
        aBranchRole(aBranchId(), { ...given, revoked_at: at(1) }),
        aBranchRole(aBranchId(), { ...given, org_id: anOrgId() })
      ]
      for (const it of [role, ...others]) yield* store.insert(it)
      assert.strictEqual(yield* store.handOver(org_id, from.id, to, at(2)), 1)
      assert.deepStrictEqual(
        yield* store.find(role.branch_id, role.role),
        Option.some(new BranchRole({ ...role, minted_by: to, api_key_id: null, api_key_name: null }))
      )
      for (const it of others) assert.deepStrictEqual(yield* store.find(it.branch_id, it.role), Option.some(it))
      assert.strictEqual(yield* store.handOver(org_id, from.id, to, at(2)), 0)
    }))

  it("a compute's confirmation is recorded once, and removed roles are not present", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const branch = aBranchId()
      const made = (seconds: number) => aBranchRole(branch, { created_at: at(seconds) })
      const [applied, removed, left] = [made(1), made(2), made(3)]
      for (const role of [applied, removed, left]) yield* store.insert(role)
      yield* store.confirm(branch, { applied: [applied.role], removed: [removed.role] }, at(5))
      yield* store.confirm(branch, { applied: [applied.role], removed: [removed.role] }, at(6))
      assert.deepStrictEqual(
        (yield* store.present(branch)).map((role) => [role.role, role.applied_at]),
        [
          [applied.role, at(5)],
          [left.role, null]
        ]
      )
      const found = Option.getOrThrow(yield* store.find(branch, removed.role))
      assert.deepStrictEqual(found.removed_at, at(5))
    }))

  it("branches with roles that have ended are listed in order, a limited number at a time, until confirmed", () =>
    Effect.gen(function* () {
      const store = yield* BranchRoleStore
      const project_id = aProjectId()
      // Ids rise.
      const [revoked, expired, valid] = [aBranchId(), aBranchId(), aBranchId()]
      const roles = [
        aBranchRole(revoked, { project_id, revoked_at: at(1) }),
        aBranchRole(revoked, { project_id, expires_at: at(1) }),
        aBranchRole(expired, { project_id, expires_at: at(2) }),
        aBranchRole(valid, { project_id, expires_at: at(3) })
      ]
      for (const role of roles) yield* store.insert(role)
      const before = BranchId.make(`${revoked.slice(0, -1)}`)
      const refs = (limit: number, after: BranchId) =>
        Effect.map(store.ending(at(2), after, limit), (found) => found.map(({ branch_id }) => branch_id))
      const mine = new Set([revoked, expired, valid])
      assert.deepStrictEqual(
        (yield* refs(100, before)).filter((id) => mine.has(id)),
        [revoked, expired]
      )
      assert.deepStrictEqual((yield* refs(1, before)).length, 1)
      assert.deepStrictEqual(
        (yield* refs(100, revoked)).filter((id) => mine.has(id)),
        [expired]
      )
      const names = roles.filter(({ branch_id }) => branch_id === revoked).map(({ role }) => role)
      yield* store.confirm(revoked, { applied: [], removed: names }, at(4))
      assert.deepStrictEqual(
        (yield* refs(100, before)).filter((id) => mine.has(id)),
        [expired]
      )
    }))
})
