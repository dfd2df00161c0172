/**
 * The end of a branch, within the running transaction. Deciding whether it may end is up to the callers: a request
 * deletes the branch or its project, or the branch has expired.
 */
import { DateTime, Effect, Option } from "effect"
import { endpointChanged } from "../../records/events/EndpointChange.ts"
import { apiKeyRevoked, branchRevoked } from "../../records/events/InternalEvents.ts"
import { ApiKeyStore } from "../../records/keys/ApiKeyStore.ts"
import { type Initiator, isFinal, StoredOperation } from "../../records/operations/Operation.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import type { Branch } from "../../records/projects/Branch.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import type { Project } from "../../records/projects/Project.ts"
import { Transaction } from "../../Transaction.ts"
import { Operations } from "../operations/Operations.ts"

/**
 * Cancels the operations of a branch that apply roles and have not begun. An operation that has begun ends in its order
 * before the deletion. If it waits for another try, that try is due at once and is the last (docs/design/operations.md
 * O21).
 *
 * Pitfall: locking operations of other actions here. A runner locks such an operation before its branch, which is
 * locked here.
 */
const makeEndConfiguration = Effect.gen(function* () {
  const operations = yield* Operations
  const store = yield* OperationStore

  return Effect.fnUntraced(function* (branch: Branch) {
    for (const { id } of yield* store.unfinished(branch.id, { actions: ["apply_config"] })) {
      const row = Option.getOrUndefined(yield* store.lock(id))
      if (row === undefined || isFinal(row.status)) continue
      if (row.status === "scheduling") yield* operations.move(row, "cancelled")
      else yield* store.update(new StoredOperation({ ...row, retry_at: null }))
    }
  })
})

/** Deletes a branch and its endpoints, and schedules the removal of its data. Keys, roles and streams stay as they are. */
export const makeDeleteBranch = Effect.gen(function* () {
  const branches = yield* BranchStore
  const endpoints = yield* EndpointStore
  const endConfiguration = yield* makeEndConfiguration
  const operations = yield* Operations
  const { emit } = yield* Transaction

  return Effect.fnUntraced(function* (project: Project, branch: Branch, initiator: Initiator) {
    const now = yield* DateTime.now
    yield* endConfiguration(branch)
    for (const { id: endpoint_id } of yield* endpoints.ofBranch(branch.id)) {
      yield* endpoints.markDeleted(endpoint_id, now)
      yield* emit(endpointChanged(project.org_id, project.id, { endpoint_id }))
    }
    yield* branches.markDeleted(branch.id, now)
    const work = { project, branch_id: branch.id, endpoint_id: null, initiator }
    return yield* operations.schedule({ ...work, action: "delete_timeline" })
  })
})

/**
 * Deletes a branch, and revokes the keys scoped to it and its roles. Their streams end after the event of the deletion,
 * which is therefore emitted first.
 *
 * Pitfall: revoking roles before keys, or scheduling before either. A revoked key and a removed member lock keys, then
 * roles, so another order deadlocks with them.
 */
export const makeEndBranch = Effect.gen(function* () {
  const deleteBranch = yield* makeDeleteBranch
  const keys = yield* ApiKeyStore
  const roles = yield* BranchRoleStore
  const { emit } = yield* Transaction

  return Effect.fnUntraced(function* (project: Project, branch: Branch, initiator: Initiator) {
    const now = yield* DateTime.now
    const ended = yield* keys.revokeAll({ branch_id: branch.id }, "scope_deleted", now)
    yield* roles.revoke({ branch_id: branch.id }, now)
    const operation = yield* deleteBranch(project, branch, initiator)
    for (const id of ended) yield* emit(apiKeyRevoked(project.org_id, id))
    yield* emit(branchRevoked(project.org_id, project.id, branch.id))
    return operation
  })
})
