/**
 * The end of a branch, within the running transaction: its endpoints and the keys scoped to it end with it, its data is
 * scheduled to go, and its streams end after that word.
 *
 * Whether it may end is for the callers: somebody deletes it, or its time is over.
 */
import { DateTime, Effect } from "effect"
import { apiKeyRevoked, branchRevoked } from "../events/InternalEvents.ts"
import { ApiKeyStore } from "../keys/ApiKeyStore.ts"
import type { Initiator } from "../operations/Operation.ts"
import { Operations } from "../operations/Operations.ts"
import { Transaction } from "../Transaction.ts"
import type { Branch } from "../projects/Branch.ts"
import { BranchStore } from "../projects/BranchStore.ts"
import { EndpointStore } from "../projects/EndpointStore.ts"
import type { Project } from "../projects/Project.ts"

export const makeEndBranch = Effect.gen(function* () {
  const branches = yield* BranchStore
  const endpoints = yield* EndpointStore
  const keys = yield* ApiKeyStore
  const operations = yield* Operations
  const { emit } = yield* Transaction

  return Effect.fnUntraced(function* (project: Project, branch: Branch, initiator: Initiator) {
    const now = yield* DateTime.now
    for (const endpoint of yield* endpoints.ofBranch(branch.id)) yield* endpoints.markDeleted(endpoint.id, now)
    yield* branches.markDeleted(branch.id, now)
    for (const id of yield* keys.revokeAll({ branch_id: branch.id }, "scope_deleted", now))
      yield* emit(apiKeyRevoked(project.org_id, id))
    const work = { project, branch_id: branch.id, endpoint_id: null, initiator }
    const operation = yield* operations.schedule({ ...work, action: "delete_timeline" })
    yield* emit(branchRevoked(project.org_id, project.id, branch.id))
    return operation
  })
})
