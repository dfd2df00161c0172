/** The contract of `QuotaStore` for the disk of branches. Run it against every adapter, as its other contract. */
import { Effect, Option } from "effect"
import { type BranchId, RegionId } from "../../src/Ids.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { personalOrgId } from "../../src/records/accounts/Organization.ts"
import type { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { Branch } from "../../src/records/projects/Branch.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import type { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anOrganization, at, aUser } from "../records.ts"
import { aBranchOf, aProjectOf, aTeam, held } from "./quotaFixtures.ts"

type Ports = AccountStore | BranchStore | OperationStore | ProjectStore | QuotaStore

export const branchDiskContract = contract<Ports>("QuotaStore disk", (it) => {
  it("a branch takes the bytes that were measured last, and before the first measurement the expected ones", () =>
    Effect.gen(function* () {
      const [org, store] = [yield* aTeam, yield* QuotaStore]
      const project = yield* aProjectOf(org)
      const [ready, making] = [yield* aBranchOf(project), yield* aBranchOf(project, { current_state: "init" })]
      const bytes = (branch: BranchId) => store.bytesOf(branch)
      const measure = (...sizes: ReadonlyArray<readonly [BranchId, number]>) =>
        store.recordBytes(
          null,
          sizes.map(([branch_id, bytes]) => ({ branch_id, bytes })),
          at(1)
        )

      yield* store.expectBytes(org, making.id, 100)
      yield* measure([ready.id, 2 ** 40], [making.id, 30], [aBranchId(), 5])
      assert.strictEqual(yield* bytes(ready.id), 2 ** 40)
      assert.strictEqual(yield* bytes(making.id), 100)
      assert.strictEqual(yield* held(org, "disk_bytes"), 2 ** 40 + 100)
      yield* measure([ready.id, 40], [making.id, 130])
      assert.strictEqual(yield* bytes(making.id), 130)
      yield* (yield* BranchStore).put(new Branch({ ...making, current_state: "ready" }))
      yield* measure([making.id, 90])
      assert.strictEqual(yield* held(org, "disk_bytes"), 130)
      assert.strictEqual(yield* bytes(aBranchId()), 0)
    }))

  it("a branch has a size once its present data is measured, with the time at which the measurement began", () =>
    Effect.gen(function* () {
      const [org, store, branches] = [yield* aTeam, yield* QuotaStore, yield* BranchStore]
      const project = yield* aProjectOf(org)
      const [ready, making] = [yield* aBranchOf(project), yield* aBranchOf(project, { current_state: "init" })]
      const sizes = Effect.map(store.disksOf([making.id, aBranchId(), ready.id]), (found) =>
        Object.fromEntries(
          found
            .filter((it) => it.size_measured_at !== null || it.size_bytes !== null)
            .map((it) => [it.branch_id, [it.size_bytes, it.size_measured_at]])
        )
      )
      const measure = (seconds: number, ...bytes: readonly [number, number]) =>
        store.recordBytes(
          null,
          [ready, making].map(({ id }, n) => ({ branch_id: id, bytes: bytes[n] ?? 0 })),
          at(seconds)
        )

      assert.deepStrictEqual(yield* store.disksOf([]), [])
      yield* store.expectBytes(org, making.id, 100)
      assert.deepStrictEqual(yield* sizes, {})
      yield* measure(1, 2 ** 40, 30)
      assert.deepStrictEqual(yield* sizes, { [ready.id]: [2 ** 40, at(1)] })
      yield* branches.put(new Branch({ ...making, current_state: "ready" }))
      assert.deepStrictEqual(yield* sizes, { [ready.id]: [2 ** 40, at(1)] })
      yield* measure(2, 0, 90)
      assert.deepStrictEqual(yield* sizes, { [ready.id]: [0, at(2)], [making.id]: [90, at(2)] })
      assert.deepStrictEqual(
        (yield* store.disksOf([ready.id])).map(({ branch_id }) => branch_id),
        [ready.id]
      )

      yield* branches.put(new Branch({ ...ready, current_state: "resetting" }))
      yield* measure(3, 40, 91)
      assert.deepStrictEqual(yield* sizes, { [making.id]: [91, at(3)] })
      yield* branches.put(ready)
      yield* measure(4, 41, 92)
      yield* store.expectBytes(org, making.id, 500)
      assert.deepStrictEqual(yield* sizes, { [ready.id]: [41, at(4)] })
    }))

  it("a branch has the disk and the quota of its whole organization, and before a measurement no size", () =>
    Effect.gen(function* () {
      const [org, other, store] = [yield* aTeam, yield* aTeam, yield* QuotaStore]
      const project = yield* aProjectOf(org)
      const [ready, making] = [yield* aBranchOf(project), yield* aBranchOf(project, { current_state: "init" })]
      const foreign = yield* aBranchOf(yield* aProjectOf(other))
      const disks = Effect.map(store.disksOf([foreign.id, making.id, ready.id]), (found) =>
        Object.fromEntries(
          found.map(({ branch_id, held, size_bytes, terms }) => [branch_id, { held, size_bytes, terms }])
        )
      )
      yield* store.expectBytes(org, making.id, 100)
      yield* store.recordBytes(
        null,
        [
          { branch_id: ready.id, bytes: 2 ** 40 },
          { branch_id: foreign.id, bytes: 5 }
        ],
        at(1)
      )
      for (const quota of ["disk_bytes", "projects"] as const) yield* store.setOverride(org, quota, 2 ** 41)
      const found = yield* disks
      for (const [id, size_bytes] of [
        [ready.id, 2 ** 40],
        [making.id, null]
      ] as const) {
        assert.deepInclude(found[id], { held: 2 ** 40 + 100, size_bytes })
        assert.strictEqual(found[id]?.terms.overrides.disk_bytes, 2 ** 41)
      }
      assert.deepStrictEqual(found[foreign.id], { held: 5, size_bytes: 5, terms: { personal: false, overrides: {} } })
    }))

  it("a personal organization has its own share of the quota", () =>
    Effect.gen(function* () {
      const [accounts, store, user] = [yield* AccountStore, yield* QuotaStore, aUser().id]
      const personal = anOrganization({ id: personalOrgId(user), personal: true })
      yield* accounts.putOrganization(personal)
      const branch = yield* aBranchOf(yield* aProjectOf(personal.id))
      yield* store.expectBytes(personal.id, branch.id, 1)
      const [disk] = yield* store.disksOf([branch.id])
      assert.deepStrictEqual(disk?.terms, { personal: true, overrides: {} })
    }))

  it("a measurement that contains a branch deleted since neither brings it back nor keeps its size", () =>
    Effect.gen(function* () {
      const [org, store, branches] = [yield* aTeam, yield* QuotaStore, yield* BranchStore]
      const branch = yield* aBranchOf(yield* aProjectOf(org))
      yield* branches.markDeleted(branch.id, at(1))
      yield* store.recordBytes(null, [{ branch_id: branch.id, bytes: 70 }], at(0))
      assert.isTrue(Option.isNone(yield* branches.findAnywhere(branch.id)))
      yield* store.recordBytes(null, [], at(2))
      assert.deepStrictEqual(yield* store.disksOf([branch.id]), [])
      assert.strictEqual(yield* held(org, "disk_bytes"), 0)
    }))

  it("a deleted branch takes disk until a measurement of its region does not contain it", () =>
    Effect.gen(function* () {
      const [org, store] = [yield* aTeam, yield* QuotaStore]
      const branch = yield* aBranchOf(yield* aProjectOf(org))
      yield* store.recordBytes(null, [{ branch_id: branch.id, bytes: 70 }], at(1))
      yield* store.recordBytes(null, [], at(2))
      assert.strictEqual(yield* held(org, "disk_bytes"), 70)
      yield* (yield* BranchStore).markDeleted(branch.id, at(3))
      assert.strictEqual(yield* held(org, "disk_bytes"), 70)
      yield* store.recordBytes(null, [{ branch_id: branch.id, bytes: 60 }], at(4))
      assert.strictEqual(yield* held(org, "disk_bytes"), 60)
      yield* store.recordBytes(RegionId.make("us-1"), [], at(5))
      assert.strictEqual(yield* held(org, "disk_bytes"), 60, "the branch is of another region")
      yield* store.recordBytes(branch.region_id, [], at(5))
      assert.strictEqual(yield* held(org, "disk_bytes"), 0)
    }))
})
