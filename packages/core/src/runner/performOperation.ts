/**
 * What each action does, in three parts: what its start changes, what the machines do, and what its end changes.
 *
 * The first and the last run inside a transaction of the runner; the middle may be interrupted anywhere and run again.
 *
 * Pitfall: raising the generation of a compute with each try. It is raised with the first part, once per operation, so
 * that a start that is run again finds its own compute and not a second one.
 */
import { DateTime, Effect, Option } from "effect"
import type { BranchId } from "../Ids.ts"
import { Branch, type BranchState } from "../projects/Branch.ts"
import { BranchRoleStore } from "../projects/BranchRoleStore.ts"
import { BranchStore } from "../projects/BranchStore.ts"
import { Endpoint } from "../projects/Endpoint.ts"
import { EndpointStore } from "../projects/EndpointStore.ts"
import type { StorageError } from "../StorageError.ts"
import { ComputeDriver, ComputeFailed } from "../computes/ComputeDriver.ts"
import type { OperationAction, StoredOperation } from "../operations/Operation.ts"
import { headedFor } from "../operations/Operations.ts"
import { OperationStore } from "../operations/OperationStore.ts"

type Stores = BranchStore | EndpointStore | OperationStore

/** Changes an endpoint under its lock; one that is gone is left gone. */
const changeEndpoint = Effect.fnUntraced(function* (
  operation: StoredOperation,
  change: (endpoint: Endpoint) => Partial<Endpoint>
) {
  const store = yield* EndpointStore
  if (operation.endpoint_id === null) return
  const endpoint = Option.getOrUndefined(yield* store.lock(operation.endpoint_id))
  if (endpoint !== undefined)
    yield* store.put(new Endpoint({ ...endpoint, ...change(endpoint), updated_at: yield* DateTime.now }))
})

const changeBranch = Effect.fnUntraced(function* (operation: StoredOperation, current_state: BranchState) {
  const store = yield* BranchStore
  if (operation.branch_id === null) return
  const branch = Option.getOrUndefined(yield* store.lock(operation.project_id, operation.branch_id))
  if (branch !== undefined)
    yield* store.put(new Branch({ ...branch, current_state, pending_state: null, updated_at: yield* DateTime.now }))
})

/** Brings every endpoint of the operation's branch to rest. */
const restEndpoints = Effect.fnUntraced(function* (operation: StoredOperation) {
  const store = yield* EndpointStore
  if (operation.branch_id === null) return
  const now = yield* DateTime.now
  for (const { id } of yield* store.ofBranch(operation.branch_id)) {
    const endpoint = Option.getOrUndefined(yield* store.lock(id))
    if (endpoint === undefined || (endpoint.current_state === "idle" && endpoint.pending_state === null)) continue
    const suspended_at = endpoint.current_state === "active" ? now : endpoint.suspended_at
    const asleep = { current_state: "idle", address: null, connections: 0, suspended_at, updated_at: now } as const
    const rested = new Endpoint({ ...endpoint, ...asleep })
    yield* store.put(new Endpoint({ ...rested, pending_state: yield* pendingAfter(operation, rested) }))
  }
})

/** What an endpoint is headed for once this operation is done. */
const pendingAfter = Effect.fnUntraced(function* (operation: StoredOperation, endpoint: Endpoint) {
  const others = (yield* (yield* OperationStore).unfinished(endpoint.branch_id)).filter((it) => it.id !== operation.id)
  const { by, state } = headedFor(endpoint, others)
  return Option.isSome(by) && state !== endpoint.current_state ? state : null
})

const settleEndpoint = Effect.fnUntraced(function* (operation: StoredOperation, changes: Partial<Endpoint>) {
  const store = yield* EndpointStore
  if (operation.endpoint_id === null) return
  const endpoint = Option.getOrUndefined(yield* store.lock(operation.endpoint_id))
  if (endpoint === undefined) return
  const settled = new Endpoint({ ...endpoint, ...changes, updated_at: yield* DateTime.now })
  yield* store.put(new Endpoint({ ...settled, pending_state: yield* pendingAfter(operation, settled) }))
})

/** Operations whose end changes what a branch holds, or that there is something. */
const fills: ReadonlySet<OperationAction> = new Set<OperationAction>([
  "create_timeline",
  "create_branch",
  "reset_branch"
])

/** Is the branch gone, or the one that it is to be a copy of still being made? */
const beforeFilling = Effect.fnUntraced(function* (operation: StoredOperation) {
  const branches = yield* BranchStore
  if (operation.branch_id === null) return "skip"
  const branch = Option.getOrUndefined(yield* branches.find(operation.project_id, operation.branch_id))
  if (branch === undefined) return "skip"
  if (branch.parent_id === null) return "go"
  const ofParent = yield* (yield* OperationStore).unfinished(branch.parent_id)
  return ofParent.some(({ action }) => fills.has(action)) ? "wait" : "go"
})

/**
 * The first part, with the move to `running`. `skip`: the wanted state is there already, or nobody wants it any more.
 * `wait`: another branch has to be ready first.
 */
export const begin = Effect.fnUntraced(function* (
  operation: StoredOperation
): Effect.fn.Return<"go" | "skip" | "wait", StorageError, Stores> {
  const endpoints = yield* EndpointStore
  if (fills.has(operation.action)) return yield* beforeFilling(operation)
  if (operation.action === "start_compute") {
    const endpoint = operation.endpoint_id === null ? Option.none() : yield* endpoints.lock(operation.endpoint_id)
    if (Option.isNone(endpoint) || endpoint.value.disabled || endpoint.value.current_state === "active") return "skip"
    yield* changeEndpoint(operation, ({ generation }) => ({
      generation: generation + 1,
      pending_state: "active",
      address: null
    }))
  }
  if (operation.action === "suspend_compute") {
    const endpoint = operation.endpoint_id === null ? Option.none() : yield* endpoints.lock(operation.endpoint_id)
    if (Option.isNone(endpoint) || endpoint.value.current_state !== "active") return "skip"
    if (operation.initiator.type === "system" && (yield* usedSince(operation, endpoint.value))) return "skip"
  }
  return "go"
})

/** Was the compute used after the system decided to suspend it? Somebody who connected meanwhile keeps it. */
const usedSince = (operation: StoredOperation, endpoint: Endpoint) =>
  Effect.succeed(
    endpoint.last_active_at !== null && DateTime.isGreaterThan(endpoint.last_active_at, operation.created_at)
  )

/** The middle part. Answers the compute's address where one was started. */
export const perform = Effect.fnUntraced(function* (
  operation: StoredOperation
): Effect.fn.Return<string | null, ComputeFailed | StorageError, ComputeDriver | BranchRoleStore | Stores> {
  const driver = yield* ComputeDriver
  const endpoints = yield* EndpointStore
  const { branch_id, endpoint_id } = operation
  if (branch_id === null) return null
  switch (operation.action) {
    case "create_timeline":
    case "create_branch":
      yield* driver.createBranch(branch_id, yield* parentOf(operation, branch_id))
      return null
    case "reset_branch": {
      const parent = Option.getOrUndefined(yield* parentOf(operation, branch_id))
      if (parent === undefined)
        return yield* new ComputeFailed({ reason: "The parent branch is gone.", retryable: false })
      yield* driver.resetBranch(branch_id, parent)
      return null
    }
    case "delete_timeline":
      yield* driver.deleteBranch(branch_id)
      return null
    case "start_compute": {
      const endpoint = endpoint_id === null ? Option.none() : yield* endpoints.findAnywhere(endpoint_id)
      if (Option.isNone(endpoint))
        return yield* new ComputeFailed({ reason: "The endpoint is gone.", retryable: false })
      const { generation, id } = endpoint.value
      const roles = yield* validRoles(branch_id)
      return (yield* driver.start({ endpoint_id: id, branch_id, generation, roles })).address
    }
    case "suspend_compute":
    case "delete_compute":
      if (endpoint_id !== null) yield* driver.stop(endpoint_id)
      return null
    case "apply_config":
      yield* driver.applyRoles(branch_id, yield* validRoles(branch_id))
      return null
    case "create_compute":
      return null
  }
})

/** The last part, with the move to `finished`. */
export const complete = Effect.fnUntraced(function* (
  operation: StoredOperation,
  address: string | null
): Effect.fn.Return<void, StorageError, Stores> {
  const now = yield* DateTime.now
  switch (operation.action) {
    case "create_timeline":
    case "create_branch":
      yield* changeBranch(operation, "ready")
      return yield* settleUnmade(operation, "idle")
    case "reset_branch":
      yield* changeBranch(operation, "ready")
      return yield* restEndpoints(operation)
    case "start_compute":
      return yield* settleEndpoint(operation, {
        current_state: "active",
        address,
        connections: 0,
        started_at: now,
        last_active_at: now,
        suspended_at: null
      })
    case "suspend_compute":
      return yield* settleEndpoint(operation, {
        current_state: "idle",
        address: null,
        connections: 0,
        suspended_at: now
      })
    case "create_compute":
      return yield* settleEndpoint(operation, { current_state: "idle" })
    case "delete_timeline":
    case "delete_compute":
    case "apply_config":
      return
  }
})

/** What stays after an operation failed for good: nothing is pending any more. */
export const giveUp = Effect.fnUntraced(function* (
  operation: StoredOperation
): Effect.fn.Return<void, StorageError, Stores> {
  if (operation.action === "create_timeline" || operation.action === "create_branch") {
    yield* changeBranch(operation, "init")
    yield* settleUnmade(operation, "init")
  }
  if (operation.action === "reset_branch") yield* changeBranch(operation, "ready")
  if (operation.action === "start_compute" || operation.action === "suspend_compute")
    yield* settleEndpoint(operation, {})
})

/** Endpoints that were made before their branch share its fate. */
const settleUnmade = Effect.fnUntraced(function* (operation: StoredOperation, current_state: "idle" | "init") {
  const store = yield* EndpointStore
  const now = yield* DateTime.now
  if (operation.branch_id === null) return
  for (const { id } of yield* store.ofBranch(operation.branch_id)) {
    const endpoint = Option.getOrUndefined(yield* store.lock(id))
    if (endpoint?.current_state !== "init") continue
    const settled = new Endpoint({ ...endpoint, current_state, updated_at: now })
    yield* store.put(new Endpoint({ ...settled, pending_state: yield* pendingAfter(operation, settled) }))
  }
})

const parentOf = Effect.fnUntraced(function* (operation: StoredOperation, id: BranchId) {
  const branch = yield* (yield* BranchStore).find(operation.project_id, id)
  return Option.flatMap(branch, ({ parent_id }) => Option.fromNullOr(parent_id))
})

const validRoles = Effect.fnUntraced(function* (branch: BranchId) {
  const roles = yield* (yield* BranchRoleStore).valid(branch, yield* DateTime.now)
  return roles.map(({ access, expires_at, role, verifier }) => ({
    access,
    expires_at: Option.fromNullOr(expires_at),
    role,
    verifier
  }))
})
