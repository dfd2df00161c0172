/** The contract of `QuotaStore`. Run it against every adapter, with the stores whose rows it counts. */
import { Effect, Option } from "effect"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { StoredInvitation } from "../../src/accounts/Invitation.ts"
import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import { personalOrgId } from "../../src/accounts/Organization.ts"
import type { BranchId, OrgId, ProjectId } from "../../src/Ids.ts"
import { StoredOperation } from "../../src/operations/Operation.ts"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { Branch } from "../../src/projects/Branch.ts"
import { BranchRoleStore } from "../../src/projects/BranchRoleStore.ts"
import { BranchStore } from "../../src/projects/BranchStore.ts"
import { EndpointStore } from "../../src/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/projects/ProjectStore.ts"
import { type QuotaName, quotaNames } from "../../src/quotas/Quota.ts"
import { QuotaStore } from "../../src/quotas/QuotaStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import {
  aBranch,
  aBranchId,
  aBranchRole,
  aMembership,
  anEndpoint,
  anInvitation,
  anOperation,
  anOrganization,
  anOrgId,
  aProject,
  at,
  aUser
} from "../records.ts"
import { inTransactionsAtOnce, undone } from "../together.ts"

const held = (org_id: OrgId, quota: QuotaName, project_id: ProjectId | null = null, seconds = 0) =>
  QuotaStore.use((store) =>
    Effect.map(store.held({ org_id, project_id, now: at(seconds) }, [quota]), (amounts) => amounts[quota])
  )

const aTeam = Effect.gen(function* () {
  const organization = anOrganization()
  yield* (yield* AccountStore).putOrganization(organization)
  return organization.id
})

const aProjectOf = Effect.fnUntraced(function* (org_id: OrgId) {
  const project = aProject({ org_id })
  yield* (yield* ProjectStore).insert(project)
  return project.id
})

const aBranchOf = Effect.fnUntraced(function* (project: ProjectId, rest: Partial<Branch> = {}) {
  const branch = aBranch(project, rest)
  yield* (yield* BranchStore).put(branch)
  return branch
})

type Ports =
  | AccountStore
  | BranchRoleStore
  | BranchStore
  | EndpointStore
  | InvitationStore
  | OperationStore
  | ProjectStore
  | QuotaStore

export const quotaStoreContract = contract<Ports | Transaction>("QuotaStore", (it) => {
  it("an organization without anything holds 0 of every quota", () =>
    Effect.gen(function* () {
      const holder = { org_id: yield* aTeam, project_id: null, now: at(0) }
      const store = yield* QuotaStore
      const none = Object.fromEntries(quotaNames.map((quota) => [quota, 0]))
      assert.deepStrictEqual(yield* store.held(holder, quotaNames), none)
      assert.deepStrictEqual(yield* store.held(holder, ["projects", "endpoints"]), { projects: 0, endpoints: 0 })
      assert.deepStrictEqual(yield* store.held(holder, []), {})
    }))

  it("projects, branches and endpoints count until they are deleted, in their organization alone", () =>
    Effect.gen(function* () {
      const [org, other] = [yield* aTeam, yield* aTeam]
      const [first, second] = [yield* aProjectOf(org), yield* aProjectOf(org)]
      yield* aBranchOf(yield* aProjectOf(other))
      const branch = yield* aBranchOf(first)
      yield* aBranchOf(first, { expires_at: at(-5) })
      yield* aBranchOf(second, { expires_at: at(5) })
      const endpoint = anEndpoint(first, branch.id)
      yield* (yield* EndpointStore).put(endpoint)

      assert.strictEqual(yield* held(org, "projects"), 2)
      assert.strictEqual(yield* held(other, "projects"), 1)
      assert.strictEqual(yield* held(org, "branches"), 3)
      assert.strictEqual(yield* held(org, "branches_per_project", second), 1)
      assert.strictEqual(yield* held(org, "branches_per_project", first), 2)
      assert.strictEqual(yield* held(org, "branches_per_project"), 2)
      assert.strictEqual(yield* held(org, "sandboxes"), 2)
      assert.strictEqual(yield* held(org, "endpoints"), 1)

      yield* (yield* EndpointStore).markDeleted(endpoint.id, at(1))
      yield* (yield* BranchStore).markDeleted(branch.id, at(1))
      yield* (yield* ProjectStore).markDeleted(second, at(1))
      assert.strictEqual(yield* held(org, "endpoints"), 0)
      assert.strictEqual(yield* held(org, "branches_per_project", first), 1)
      assert.strictEqual(yield* held(org, "projects"), 1)
    }))

  it("credentials count per branch, of the branch with the most, until their end is confirmed", () =>
    Effect.gen(function* () {
      const [org, other] = [yield* aTeam, yield* aTeam]
      const project = yield* aProjectOf(org)
      const [one, two] = [yield* aBranchOf(project), yield* aBranchOf(project)]
      const foreign = yield* aBranchOf(yield* aProjectOf(other))
      const roles = yield* BranchRoleStore
      const made = aBranchRole(one.id, { org_id: org, project_id: project })
      yield* roles.insert(made)
      yield* roles.insert(aBranchRole(one.id, { org_id: org, project_id: project, revoked_at: at(1) }))
      yield* roles.insert(aBranchRole(two.id, { org_id: org, project_id: project }))
      for (let n = 0; n < 3; n++) yield* roles.insert(aBranchRole(foreign.id, { org_id: other }))
      assert.strictEqual(yield* held(org, "credentials_per_branch"), 2)
      yield* roles.confirm(one.id, { applied: [], removed: [made.role] }, at(2))
      assert.strictEqual(yield* held(org, "credentials_per_branch"), 1)
      yield* (yield* BranchStore).markDeleted(foreign.id, at(3))
      assert.strictEqual(yield* held(other, "credentials_per_branch"), 0)
    }))

  it("a compute counts while it runs, while it is to run, and while an unfinished operation starts it", () =>
    Effect.gen(function* () {
      const org = yield* aTeam
      const project = yield* aProjectOf(org)
      const { id: branch } = yield* aBranchOf(project)
      const endpoints = yield* EndpointStore
      const operations = yield* OperationStore
      for (const [current_state, pending_state] of [
        ["active", null],
        ["active", "idle"],
        ["idle", "active"],
        ["idle", null],
        ["init", "idle"]
      ] as const)
        yield* endpoints.put(anEndpoint(project, branch, { current_state, pending_state }))
      assert.strictEqual(yield* held(org, "running_computes"), 3)

      const idle = anEndpoint(project, branch)
      yield* endpoints.put(idle)
      const suspend = anOperation(project, branch, { endpoint_id: idle.id, action: "suspend_compute" })
      yield* operations.insert(suspend)
      assert.strictEqual(yield* held(org, "running_computes"), 3)
      const start = anOperation(project, branch, { endpoint_id: idle.id, action: "start_compute" })
      yield* operations.insert(start)
      assert.strictEqual(yield* held(org, "running_computes"), 4)
      yield* operations.update(new StoredOperation({ ...start, status: "finished" }))
      assert.strictEqual(yield* held(org, "running_computes"), 3)
    }))

  it("an invitation counts while it is pending, and takes the place of the member that it may become", () =>
    Effect.gen(function* () {
      const org = yield* aTeam
      const invitations = yield* InvitationStore
      yield* (yield* AccountStore).putMembership(aMembership(org, aUser().id))
      const [first, second] = [anInvitation(org, "a@example.com"), anInvitation(org, "b@example.com")]
      for (const invitation of [first, second]) yield* invitations.add(invitation, at(0))
      assert.strictEqual(yield* held(org, "invitations"), 2)
      assert.strictEqual(yield* held(org, "members"), 3)
      yield* invitations.update(new StoredInvitation({ ...first, revoked_at: at(1) }))
      assert.strictEqual(yield* held(org, "invitations"), 1)
      assert.strictEqual(yield* held(org, "members"), 2)
      assert.strictEqual(yield* held(org, "invitations", null, 100), 0)
    }))

  it("an organization counts for the person who created it until it is deleted", () =>
    Effect.gen(function* () {
      const [ada, org] = [aUser().id, yield* aTeam]
      yield* (yield* QuotaStore).addFounder(org, ada)
      assert.strictEqual(yield* held(personalOrgId(ada), "organizations"), 1)
      assert.strictEqual(yield* held(personalOrgId(aUser().id), "organizations"), 0)
      yield* (yield* AccountStore).removeOrganization(org)
      assert.strictEqual(yield* held(personalOrgId(ada), "organizations"), 0)
    }))

  it("the operator's number of an organization is stored, replaced and removed", () =>
    Effect.gen(function* () {
      const [org, store] = [yield* aTeam, yield* QuotaStore]
      assert.deepStrictEqual(yield* store.terms(org), Option.some({ personal: false, overrides: {} }))
      yield* store.setOverride(org, "projects", 7)
      yield* store.setOverride(org, "disk_bytes", 2 ** 45)
      yield* store.setOverride(org, "projects", 8)
      const overrides = { projects: 8, disk_bytes: 2 ** 45 }
      assert.deepStrictEqual(yield* store.terms(org), Option.some({ personal: false, overrides }))
      yield* store.setOverride(org, "disk_bytes", null)
      assert.deepStrictEqual(yield* store.terms(org), Option.some({ personal: false, overrides: { projects: 8 } }))
      assert.isTrue(Option.isNone(yield* store.terms(anOrgId())))
    }))

  it("transactions that lock a quota of one organization see each other's rows", () =>
    Effect.gen(function* () {
      const [org, store] = [yield* aTeam, yield* QuotaStore]
      const added = yield* inTransactionsAtOnce(12, () =>
        Effect.gen(function* () {
          yield* store.lock(org, ["projects", "branches"])
          const room = ((yield* held(org, "projects")) ?? 0) < 5
          if (room) yield* aProjectOf(org)
          return room
        })
      )
      assert.strictEqual(added.filter((it) => it).length, 5)
      assert.strictEqual(yield* held(org, "projects"), 5)
      yield* undone(Effect.andThen(store.lock(org, ["projects"]), aProjectOf(org)))
      assert.strictEqual(yield* held(org, "projects"), 5)
    }))

  it("a branch takes the bytes that were measured last, and before the first measurement the expected ones", () =>
    Effect.gen(function* () {
      const [org, store] = [yield* aTeam, yield* QuotaStore]
      const project = yield* aProjectOf(org)
      const [ready, making] = [yield* aBranchOf(project), yield* aBranchOf(project, { current_state: "init" })]
      const bytes = (branch: BranchId) => store.bytesOf(branch)
      const measure = (...sizes: ReadonlyArray<readonly [BranchId, number]>) =>
        store.recordBytes(
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
      const sizes = Effect.map(store.sizesOf([making.id, aBranchId(), ready.id]), (found) =>
        Object.fromEntries(found.map((it) => [it.branch_id, [it.size_bytes, it.size_measured_at]]))
      )
      const measure = (seconds: number, ...bytes: readonly [number, number]) =>
        store.recordBytes(
          [ready, making].map(({ id }, n) => ({ branch_id: id, bytes: bytes[n] ?? 0 })),
          at(seconds)
        )

      assert.deepStrictEqual(yield* store.sizesOf([]), [])
      yield* store.expectBytes(org, making.id, 100)
      assert.deepStrictEqual(yield* sizes, {})
      yield* measure(1, 2 ** 40, 30)
      assert.deepStrictEqual(yield* sizes, { [ready.id]: [2 ** 40, at(1)] })
      yield* branches.put(new Branch({ ...making, current_state: "ready" }))
      assert.deepStrictEqual(yield* sizes, { [ready.id]: [2 ** 40, at(1)] })
      yield* measure(2, 0, 90)
      assert.deepStrictEqual(yield* sizes, { [ready.id]: [0, at(2)], [making.id]: [90, at(2)] })
      assert.deepStrictEqual(
        (yield* store.sizesOf([ready.id])).map(({ branch_id }) => branch_id),
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

  it("a measurement that contains a branch deleted since neither brings it back nor keeps its size", () =>
    Effect.gen(function* () {
      const [org, store, branches] = [yield* aTeam, yield* QuotaStore, yield* BranchStore]
      const branch = yield* aBranchOf(yield* aProjectOf(org))
      yield* branches.markDeleted(branch.id, at(1))
      yield* store.recordBytes([{ branch_id: branch.id, bytes: 70 }], at(0))
      assert.isTrue(Option.isNone(yield* branches.findAnywhere(branch.id)))
      yield* store.recordBytes([], at(2))
      assert.deepStrictEqual(yield* store.sizesOf([branch.id]), [])
      assert.strictEqual(yield* held(org, "disk_bytes"), 0)
    }))

  it("a deleted branch takes disk until a measurement does not contain it", () =>
    Effect.gen(function* () {
      const [org, store] = [yield* aTeam, yield* QuotaStore]
      const branch = yield* aBranchOf(yield* aProjectOf(org))
      yield* store.recordBytes([{ branch_id: branch.id, bytes: 70 }], at(1))
      yield* store.recordBytes([], at(2))
      assert.strictEqual(yield* held(org, "disk_bytes"), 70)
      yield* (yield* BranchStore).markDeleted(branch.id, at(3))
      assert.strictEqual(yield* held(org, "disk_bytes"), 70)
      yield* store.recordBytes([{ branch_id: branch.id, bytes: 60 }], at(4))
      assert.strictEqual(yield* held(org, "disk_bytes"), 60)
      yield* store.recordBytes([], at(5))
      assert.strictEqual(yield* held(org, "disk_bytes"), 0)
    }))

  it("a person takes the disk of all organizations that count for them, from the creation of a branch to its removal", () =>
    Effect.gen(function* () {
      const [accounts, store] = [yield* AccountStore, yield* QuotaStore]
      const [ada, bob] = [aUser().id, aUser().id]
      const personal = anOrganization({ id: personalOrgId(ada), personal: true })
      yield* accounts.putOrganization(personal)
      const [founded, owned, joined, without] = [yield* aTeam, yield* aTeam, yield* aTeam, yield* aTeam]
      yield* store.addFounder(founded, ada)
      for (const org of [personal.id, founded, owned])
        yield* accounts.putMembership(aMembership(org, ada, { role: "owner" }))
      yield* accounts.putMembership(aMembership(joined, bob, { role: "owner" }))
      yield* accounts.putMembership(aMembership(joined, ada, { role: "owner", joined_at: at(1) }))
      const bytes = [1, 20, 300, 4_000, 50_000]
      for (const [n, org] of [personal.id, founded, owned, joined, without].entries()) {
        const made = yield* aBranchOf(yield* aProjectOf(org))
        yield* store.expectBytes(org, made.id, bytes[n] ?? 0)
      }

      for (const org of [personal.id, founded, owned]) assert.strictEqual(yield* store.bytesOfPerson(org), 321)
      assert.strictEqual(yield* store.bytesOfPerson(joined), 4_000)
      assert.strictEqual(yield* store.bytesOfPerson(without), 50_000)
      assert.strictEqual(yield* store.bytesOfPerson(anOrgId()), 0)

      const project = yield* aProjectOf(owned)
      const { id: branch_id } = yield* aBranchOf(project, { current_state: "init" })
      yield* store.expectBytes(owned, branch_id, 600)
      const operations = yield* OperationStore
      const during = Effect.fnUntraced(function* (action: StoredOperation["action"]) {
        const operation = anOperation(project, branch_id, { org_id: owned, action })
        yield* operations.insert(operation)
        const bytes = yield* store.bytesOfPerson(founded)
        yield* operations.update(new StoredOperation({ ...operation, status: "failed", finished_at: at(1) }))
        return [bytes, yield* store.bytesOfPerson(founded)]
      })
      // A creation that failed may have left data.
      assert.deepStrictEqual(yield* during("create_branch"), [321, 921])
      assert.deepStrictEqual(yield* during("reset_branch"), [921, 921])
      yield* (yield* BranchStore).markDeleted(branch_id, at(2))
      assert.deepStrictEqual(yield* during("delete_timeline"), [921, 321])
    }))
})
