/**
 * Creates, starts, suspends, changes and deletes endpoints for callers of the API, who are authorized before.
 * `ProxyRequests` serves connections; the runner performs the operations that are scheduled here.
 *
 * Start and suspend set the desired state. An empty list of operations means that the endpoint is in it already.
 *
 * The rights of an agent depend on whether the branch is *main*, so they are decided again here, under the branch's
 * lock. The branch is locked before the endpoint, as everywhere.
 *
 * A caller's start cancels a suspend of the endpoint that has not begun, and the other way round. So changes of mind do
 * not fill the queue of a busy branch (docs/design/operations.md O23).
 *
 * Pitfall: trusting the decision of the request. The branch may have become main since.
 * Pitfall: deciding by the current state. A start during a suspend has to be scheduled, and runs after it.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { BranchId, makeEndpointId, requestedId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { Conflict, InvalidMember, type NotFound, orNotFound, Refused, type ResourceBusy } from "../../Refusals.ts"
import { endpointChanged } from "../../records/events/EndpointChange.ts"
import type { Initiator, StoredOperation } from "../../records/operations/Operation.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import { Endpoint, type EndpointType, newEndpoint } from "../../records/projects/Endpoint.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import type { Project } from "../../records/projects/Project.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import { takesCompute } from "../../records/quotas/QuotaStore.ts"
import { decideTarget, isAgent } from "../../rules/authorization/decide.ts"
import { type CredentialPolicy, endpointsByAgents } from "../../rules/authorization/Policy.ts"
import { type AnyCaller, branchScopeOf } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { initiatorOf, Operations } from "../operations/Operations.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { makeApplyRoles } from "./applyRoles.ts"
import { makeBranchQueue } from "./branchQueue.ts"

export interface EndpointWork {
  readonly endpoint: Endpoint
  readonly operations: ReadonlyArray<StoredOperation>
}

export interface NewEndpoint {
  readonly branch_id: string
  readonly type: EndpointType
  readonly suspend_timeout_seconds: number | null
}

export interface EndpointChanges {
  readonly disabled?: boolean
  readonly suspend_timeout_seconds?: number
}

type Owner = Pick<Project, "id" | "org_id" | "region_id">

/** The part of the admitting policy that is decided again under the branch's lock. */
type Rule = Pick<CredentialPolicy, "agent">

type State = "active" | "idle"

export class Endpoints extends Context.Service<
  Endpoints,
  {
    /** The project's endpoints, newest first; a branch key sees those of its branch. */
    readonly list: (
      caller: AnyCaller,
      project: Pick<Project, "id">,
      page: PageRequest
    ) => Effect.Effect<Page<Endpoint>, StorageError>
    /** Looks the branch up inside the project. Agent keys add no endpoint to a main branch. */
    readonly create: (
      caller: AnyCaller,
      project: Project,
      wanted: NewEndpoint
    ) => Effect.Effect<
      EndpointWork,
      Conflict | InvalidMember | NotFound | QuotaExceeded | Refused | ResourceBusy | StorageError
    >
    readonly change: (
      caller: AnyCaller,
      policy: Rule,
      project: Owner,
      endpoint: Endpoint,
      changes: EndpointChanges
    ) => Effect.Effect<EndpointWork, NotFound | Refused | StorageError>
    readonly remove: (
      caller: AnyCaller,
      policy: Rule,
      project: Owner,
      endpoint: Endpoint
    ) => Effect.Effect<ReadonlyArray<StoredOperation>, NotFound | Refused | StorageError>
    /** A caller's start (`active`) or suspend (`idle`), as `setDesiredState`. */
    readonly bring: (
      caller: AnyCaller,
      policy: Rule,
      project: Owner,
      endpoint: Endpoint,
      state: State
    ) => Effect.Effect<EndpointWork, Conflict | NotFound | QuotaExceeded | Refused | ResourceBusy | StorageError>
    /**
     * Schedules the start or suspend that brings an endpoint into `state`, within a transaction of its own or the
     * running one. If an unfinished operation leads there already, that operation is returned. `Conflict`: the endpoint
     * is disabled. `QuotaExceeded`: a start exceeds the quota of running computes. `ResourceBusy`: a start on a branch
     * whose queue is full.
     */
    readonly setDesiredState: (
      project: Owner,
      endpoint: Endpoint["id"],
      state: State,
      initiator: Initiator
    ) => Effect.Effect<EndpointWork, Conflict | NotFound | QuotaExceeded | ResourceBusy | StorageError>
    /** As `setDesiredState` within the running transaction, which has locked the endpoint. */
    readonly bringLocked: (
      project: Owner,
      endpoint: Endpoint,
      state: State,
      initiator: Initiator
    ) => Effect.Effect<EndpointWork, Conflict | QuotaExceeded | ResourceBusy | StorageError>
  }
>()("@narthex/core/services/projects/Endpoints") {
  static readonly layer: Layer.Layer<
    Endpoints,
    never,
    BranchStore | EndpointStore | Operations | OperationStore | Quotas | Transaction
  > = Layer.effect(
    Endpoints,
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const operations = yield* Operations
      const pending = yield* OperationStore
      const quotas = yield* Quotas
      const store = yield* EndpointStore
      const { apply } = yield* makeApplyRoles
      const { all, cancelOpposite, hasRoom } = yield* makeBranchQueue
      const { emit, run } = yield* Transaction

      const list: Endpoints["Service"]["list"] = Effect.fn("Endpoints.list")((caller, { id }, page) =>
        store.list(id, branchScopeOf(caller), page)
      )

      /** Locks the branch that a body names, if the caller may add an endpoint to it. */
      const lockedNamed = Effect.fnUntraced(function* (caller: AnyCaller, project: Project, id: string) {
        const branch = Option.getOrUndefined(yield* branches.lock(project.id, requestedId(BranchId, id)))
        if (branch === undefined)
          return yield* new InvalidMember({ path: ["branch_id"], reason: "There is no such branch in this project." })
        const refusal = decideTarget({ agent: endpointsByAgents }, caller, branch)
        return refusal === undefined ? branch : yield* new Refused(refusal)
      })

      const locked = (id: Endpoint["id"]) => orNotFound(store.lock(id))

      /**
       * Locks the endpoint; for an agent, it locks the branch first and decides again whether the agent may do this.
       */
      const lockedFor = Effect.fnUntraced(function* (caller: AnyCaller, policy: Rule, project: Owner, given: Endpoint) {
        if (isAgent(caller)) {
          const refusal = decideTarget(policy, caller, yield* orNotFound(branches.lock(project.id, given.branch_id)))
          if (refusal !== undefined) return yield* new Refused(refusal)
        }
        return yield* locked(given.id)
      })

      const work = (project: Owner, endpoint: Endpoint, action: StoredOperation["action"], initiator: Initiator) =>
        operations.schedule({ project, branch_id: endpoint.branch_id, endpoint_id: endpoint.id, action, initiator })

      /**
       * The operation that makes the twins of a read-only endpoint, if its branch runs: a start makes them otherwise.
       */
      const twinsFor = (project: Owner, { branch_id, type }: Endpoint, initiator: Initiator) =>
        type === "read_write"
          ? Effect.succeed([])
          : Effect.map(apply({ project, branch_id, initiator }), (operation) =>
              operation === undefined ? [] : [operation]
            )

      /**
       * Whether another start of the endpoint has room in the branch's queue and in the organization's quota. `waiting` is
       * what waits on the branch, if that is all of it.
       */
      const mayStart = Effect.fnUntraced(function* (
        org: Owner["org_id"],
        endpoint: Endpoint,
        waiting: Option.Option<ReadonlyArray<StoredOperation>>
      ) {
        const { branch_id, id: endpoint_id } = endpoint
        if (Option.isNone(waiting)) yield* hasRoom(branch_id)
        const starts = Option.isSome(waiting)
          ? waiting.value
          : yield* pending.unfinished(branch_id, { actions: ["start_compute"], endpoint_id, limit: 1 })
        if (!takesCompute(endpoint, starts)) yield* quotas.take(org, { running_computes: 1 })
      })

      const create: Endpoints["Service"]["create"] = Effect.fn("Endpoints.create")(function* (
        caller,
        project,
        { branch_id, suspend_timeout_seconds, type }
      ) {
        const step = Effect.gen(function* () {
          const branch = yield* lockedNamed(caller, project, branch_id)
          yield* hasRoom(branch.id)
          yield* quotas.take(project.org_id, { endpoints: 1 })
          const id = yield* makeEndpointId
          const now = yield* DateTime.now
          const endpoint = newEndpoint(branch, {
            id,
            type,
            now,
            ...(suspend_timeout_seconds === null ? {} : { suspend_timeout_seconds })
          })
          if (!(yield* store.put(endpoint)))
            return yield* new Conflict({ reason: "The branch has a read-write endpoint already." })
          const twins = yield* twinsFor(project, endpoint, initiatorOf(caller))
          return {
            endpoint,
            operations: [yield* work(project, endpoint, "create_compute", initiatorOf(caller)), ...twins]
          }
        })
        return yield* run(step)
      })

      const bringLocked: Endpoints["Service"]["bringLocked"] = Effect.fn("Endpoints.bringLocked")(
        function* (project, given, state, initiator) {
          if (state === "active" && given.disabled)
            return yield* new Conflict({ reason: "The endpoint is disabled. Enable it first." })
          const waiting = state === "active" ? yield* all(given.branch_id) : Option.none()
          const { desired, endpoint } = yield* cancelOpposite(given, state, initiator, waiting)
          if (desired.state === state) return { endpoint, operations: Option.toArray(desired.by) }
          if (state === "active") yield* mayStart(project.org_id, endpoint, waiting)
          const action = state === "active" ? "start_compute" : "suspend_compute"
          const changed = new Endpoint({ ...endpoint, pending_state: state, updated_at: yield* DateTime.now })
          // The endpoint before the operation, as in `create`: two transactions of a branch would deadlock otherwise.
          yield* store.put(changed)
          return { endpoint: changed, operations: [yield* work(project, endpoint, action, initiator)] }
        }
      )

      const setDesiredState: Endpoints["Service"]["setDesiredState"] = Effect.fn("Endpoints.setDesiredState")(
        function* (project, id, state, initiator) {
          return yield* run(Effect.flatMap(locked(id), (given) => bringLocked(project, given, state, initiator)))
        }
      )

      const change: Endpoints["Service"]["change"] = Effect.fn("Endpoints.change")(
        function* (caller, policy, project, given, changes) {
          const step = Effect.gen(function* () {
            const endpoint = yield* lockedFor(caller, policy, project, given)
            const disabled = changes.disabled ?? endpoint.disabled
            yield* store.put(
              new Endpoint({
                ...endpoint,
                disabled,
                suspend_timeout_seconds: changes.suspend_timeout_seconds ?? endpoint.suspend_timeout_seconds,
                updated_at: yield* DateTime.now
              })
            )
            // A disabled endpoint refuses every connection, so its compute is suspended.
            if (!disabled || endpoint.disabled) return { endpoint: yield* locked(given.id), operations: [] }
            yield* emit(endpointChanged(project.org_id, project.id, { endpoint_id: given.id }))
            const suspending = setDesiredState(project, given.id, "idle", initiatorOf(caller))
            return yield* Effect.catchTag(suspending, ["Conflict", "QuotaExceeded", "ResourceBusy"], Effect.die)
          })
          return yield* run(step)
        }
      )

      const remove: Endpoints["Service"]["remove"] = Effect.fn("Endpoints.remove")(
        function* (caller, policy, project, given) {
          const step = Effect.gen(function* () {
            const endpoint = yield* lockedFor(caller, policy, project, given)
            yield* store.markDeleted(endpoint.id, yield* DateTime.now)
            yield* emit(endpointChanged(project.org_id, project.id, { endpoint_id: endpoint.id }))
            return [yield* work(project, endpoint, "delete_compute", initiatorOf(caller))]
          })
          return yield* run(step)
        }
      )

      const bring: Endpoints["Service"]["bring"] = Effect.fn("Endpoints.bring")(
        function* (caller, policy, project, given, state) {
          const step = Effect.flatMap(lockedFor(caller, policy, project, given), (endpoint) =>
            bringLocked(project, endpoint, state, initiatorOf(caller))
          )
          return yield* run(step)
        }
      )

      return Endpoints.of({ list, create, change, remove, bring, setDesiredState, bringLocked })
    })
  )
}
