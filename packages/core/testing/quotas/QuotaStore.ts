/** The contract of `QuotaStore`. Run it against every adapter, with the stores whose rows it counts. */
import { Effect, Option } from "effect"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { StoredInvitation } from "../../src/records/accounts/Invitation.ts"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { personalOrgId } from "../../src/records/accounts/Organization.ts"
import { StoredOperation } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { quotaNames } from "../../src/records/quotas/Quota.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchRole, aMembership, anEndpoint, anInvitation, anOperation, anOrgId, at, aUser } from "../records.ts"
import { inTransactionsAtOnce, undone } from "../together.ts"
import { aBranchOf, aProjectOf, aTeam, held } from "./quotaFixtures.ts"

type Ports =
  | AccountStore
  | BranchRoleStore
  | BranchStore
  | EndpointStore
  | InvitationStore
  | OperationStore
  | ProjectStore
  | QuotaStore
  | Transaction

export const quotaStoreContract = contract<Ports>("QuotaStore", (it) => {
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
      yield* endpoints.put(anEndpoint(project, branch, { current_state: "active", size: null }))
      assert.strictEqual(yield* held(org, "running_computes"), 4)
      assert.strictEqual(yield* held(org, "memory_bytes"), 3 * 2 ** 30)

      const idle = anEndpoint(project, branch)
      yield* endpoints.put(idle)
      const suspend = anOperation(project, branch, { endpoint_id: idle.id, action: "suspend_compute" })
      yield* operations.insert(suspend)
      assert.strictEqual(yield* held(org, "running_computes"), 4)
      const start = anOperation(project, branch, { endpoint_id: idle.id, action: "start_compute" })
      yield* operations.insert(start)
      assert.strictEqual(yield* held(org, "running_computes"), 5)
      assert.strictEqual(yield* held(org, "memory_bytes"), 4 * 2 ** 30)
      yield* operations.update(new StoredOperation({ ...start, status: "finished" }))
      assert.strictEqual(yield* held(org, "running_computes"), 4)
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
})
