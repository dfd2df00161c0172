/** The contract of `EndedRecordStore`. Run it against every adapter with a fresh layer, because it purges everything. */
import { Effect, Option } from "effect"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import type { StoredOperation } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { EndedRecordStore } from "../../src/records/purge/EndedRecordStore.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import {
  aBranch,
  aBranchRole,
  anEndpoint,
  anInvitation,
  anOperation,
  anOrgId,
  aProject,
  aStoredKey,
  at
} from "../records.ts"
import { atOnce } from "../together.ts"

type Stores =
  | ApiKeyStore
  | BranchRoleStore
  | BranchStore
  | EndedRecordStore
  | EndpointStore
  | InvitationStore
  | OperationStore
  | ProjectStore

const purge = (seconds: number, limit = 100, operations = seconds) =>
  Effect.flatMap(EndedRecordStore, (store) => store.purge({ operations: at(operations), records: at(seconds) }, limit))

/** Purges until nothing is left, as the background work does. */
const purgeAll = (seconds: number, operations = seconds) =>
  Effect.gen(function* () {
    let all = 0
    for (;;) {
      const purged = yield* purge(seconds, 100, operations)
      if (purged === 0) return all
      all += purged
    }
  })

const ended = (seconds: number): Partial<StoredOperation> => ({ status: "finished", finished_at: at(seconds) })

/** A project with a branch and an endpoint that were deleted at this second. */
const deletedProject = (seconds: number) =>
  Effect.gen(function* () {
    const project = aProject()
    const branch = aBranch(project.id)
    const endpoint = anEndpoint(project.id, branch.id)
    yield* (yield* ProjectStore).insert(project)
    yield* (yield* BranchStore).put(branch)
    yield* (yield* EndpointStore).put(endpoint)
    yield* (yield* EndpointStore).markDeleted(endpoint.id, at(seconds))
    yield* (yield* BranchStore).markDeleted(branch.id, at(seconds))
    yield* (yield* ProjectStore).markDeleted(project.id, at(seconds))
    return { project, branch, endpoint }
  })

export const endedRecordStoreContract = contract<Stores>("EndedRecordStore", (it) => {
  it("an operation is purged once it has been final for long enough, and never before it is", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const project = aProject()
      const made = [anOperation(project.id, null, ended(10)), anOperation(project.id, null, ended(20))]
      const open = anOperation(project.id, null, { started_at: at(0), status: "running" })
      for (const operation of [...made, open]) yield* store.insert(operation)
      assert.strictEqual(yield* purgeAll(20), 1)
      const left = (yield* store.list(project.id, {}, { limit: 10, after: null })).items.map(({ id }) => id)
      assert.sameMembers(left, [open.id, ...made.slice(1).map(({ id }) => id)])
      assert.strictEqual(yield* purgeAll(1_000), 1)
      assert.isTrue(Option.isSome(yield* store.find(open.id)))
    }))

  it("a deleted project is purged after everything that refers to it", () =>
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const { branch, endpoint, project } = yield* deletedProject(10)
      const operation = anOperation(project.id, branch.id, { ...ended(10), endpoint_id: endpoint.id })
      yield* operations.insert(operation)
      assert.strictEqual(yield* purgeAll(20, 5), 0, "the operation is kept for longer, and so is what it names")
      assert.strictEqual(yield* purgeAll(20), 4)
      assert.strictEqual(yield* purgeAll(20), 0)
    }))

  it("a deleted branch is kept while a role, a child or an operation refers to it", () =>
    Effect.gen(function* () {
      const { branch, project } = yield* deletedProject(10)
      const role = aBranchRole(branch.id, { project_id: project.id, revoked_at: at(30) })
      yield* (yield* BranchRoleStore).insert(role)
      assert.strictEqual(yield* purgeAll(20), 1, "the endpoint")
      assert.strictEqual(yield* purgeAll(40), 3, "the role, then the branch, then the project")

      const other = yield* deletedProject(10)
      const child = aBranch(other.project.id, { parent_id: other.branch.id })
      yield* (yield* BranchStore).put(child)
      assert.strictEqual(yield* purgeAll(20), 1, "the endpoint")
      const copying = anOperation(other.project.id, child.id, { copies: other.branch.id, status: "running" })
      yield* (yield* OperationStore).insert(copying)
      yield* (yield* BranchStore).markDeleted(child.id, at(11))
      assert.strictEqual(yield* purgeAll(20), 0)
      yield* (yield* OperationStore).update(anOperation(other.project.id, child.id, { ...ended(12), id: copying.id }))
      assert.strictEqual(yield* purgeAll(20), 4)
    }))

  it("a record that has not ended is never purged", () =>
    Effect.gen(function* () {
      const project = aProject()
      const branch = aBranch(project.id)
      const endpoint = anEndpoint(project.id, branch.id)
      yield* (yield* ProjectStore).insert(project)
      yield* (yield* BranchStore).put(branch)
      yield* (yield* EndpointStore).put(endpoint)
      yield* (yield* BranchRoleStore).insert(aBranchRole(branch.id, { project_id: project.id }))
      yield* (yield* ApiKeyStore).insert(aStoredKey())
      yield* (yield* InvitationStore).add(
        anInvitation(anOrgId(), "a@example.com", { expires_at: at(10_000_000) }),
        at(0)
      )
      assert.strictEqual(yield* purgeAll(1_000_000), 0)
    }))

  it("ended keys and invitations are purged, whichever way they ended", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeyStore
      const invitations = yield* InvitationStore
      yield* keys.insert(aStoredKey({ revoked_at: at(10) }))
      yield* keys.insert(aStoredKey({ expires_at: at(10) }))
      const later = { expires_at: at(5_000_000) }
      yield* invitations.add(anInvitation(anOrgId(), "b@example.com", { ...later, accepted_at: at(10) }), at(0))
      yield* invitations.add(anInvitation(anOrgId(), "c@example.com", { ...later, revoked_at: at(10) }), at(0))
      yield* invitations.add(anInvitation(anOrgId(), "d@example.com", { expires_at: at(10) }), at(0))
      assert.strictEqual(yield* purgeAll(10), 0)
      assert.strictEqual(yield* purgeAll(11), 5)
    }))

  it("a call purges at most as many of a kind as its limit, and several at once purge each record once", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const project = aProject()
      for (let n = 0; n < 12; n++) yield* store.insert(anOperation(project.id, null, ended(10)))
      assert.strictEqual(yield* purge(20, 2), 2)
      const purged = yield* atOnce(4, () => purge(20, 2))
      assert.isTrue(purged.every((count) => count <= 2))
      const rest = yield* purgeAll(20)
      assert.strictEqual(purged.reduce((sum, count) => sum + count, 0) + rest, 10)
    }))
})
