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
import type { OperationStore } from "../../records/operations/OperationStore.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import { Endpoint, type EndpointType, newEndpoint } from "../../records/projects/Endpoint.ts"
import { chooseSize, defaultSize, isSameSize, SizeCatalog } from "../../records/projects/EndpointSize.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import type { Project } from "../../records/projects/Project.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import { decideTarget, isAgent } from "../../rules/authorization/decide.ts"
import { type CredentialPolicy, endpointsByAgents } from "../../rules/authorization/Policy.ts"
import { type AnyCaller, branchScopeOf } from "../../rules/authorization/Principal.ts"
import { needsAnotherStart } from "../../rules/operations/desiredState.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { initiatorOf, Operations } from "../operations/Operations.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { makeApplyRoles } from "./applyRoles.ts"
import { makeBranchQueue } from "./branchQueue.ts"
import { makeStartRoom } from "./startRoom.ts"

export interface EndpointWork {
  readonly endpoint: Endpoint
  readonly operations: ReadonlyArray<StoredOperation>
}

export interface NewEndpoint {
  readonly branch_id: string
  readonly type: EndpointType
  readonly suspend_timeout_seconds: number | null
  /** A name of the catalog; left out or `null`: its default. */
  readonly size?: string | null
}

export interface EndpointChanges {
  readonly disabled?: boolean
  readonly suspend_timeout_seconds?: number
  /** A name of the catalog. */
  readonly size?: string
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
    /** A running compute that gets another size is started again. `InvalidMember`: there is no such size. */
    readonly change: (
      caller: AnyCaller,
      policy: Rule,
      project: Owner,
      endpoint: Endpoint,
      changes: EndpointChanges
    ) => Effect.Effect<EndpointWork, InvalidMember | NotFound | QuotaExceeded | Refused | ResourceBusy | StorageError>
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
      const quotas = yield* Quotas
      const store = yield* EndpointStore
      const { apply } = yield* makeApplyRoles
      const { all, cancelOpposite, hasRoom, leads } = yield* makeBranchQueue
      const room = yield* makeStartRoom
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

      const create: Endpoints["Service"]["create"] = Effect.fn("Endpoints.create")(function* (
        caller,
        project,
        { branch_id, size: wanted = null, suspend_timeout_seconds, type }
      ) {
        const step = Effect.gen(function* () {
          const branch = yield* lockedNamed(caller, project, branch_id)
          const size = yield* Effect.fromResult(chooseSize(yield* SizeCatalog, wanted))
          yield* hasRoom(branch.id)
          yield* quotas.take(project.org_id, { endpoints: 1 })
          const id = yield* makeEndpointId
          const now = yield* DateTime.now
          const endpoint = newEndpoint(branch, {
            id,
            type,
            now,
            size,
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
          const { desired, endpoint: found } = yield* cancelOpposite(given, state, initiator, waiting)
          if (desired.state === state && !needsAnotherStart(found, desired))
            return { endpoint: found, operations: Option.toArray(desired.by) }
          const size = found.size ?? (state === "active" ? defaultSize(yield* SizeCatalog) : null)
          const endpoint = new Endpoint({ ...found, size })
          if (state === "active") yield* room.forStart(project.org_id, endpoint, waiting)
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
            const size =
              changes.size === undefined
                ? endpoint.size
                : yield* Effect.fromResult(chooseSize(yield* SizeCatalog, changes.size))
            const resized = !isSameSize(endpoint.size, size)
            if (resized) yield* room.forSize(project.org_id, endpoint, size)
            const changed = new Endpoint({
              ...endpoint,
              disabled,
              size,
              resized: resized || endpoint.resized,
              suspend_timeout_seconds: changes.suspend_timeout_seconds ?? endpoint.suspend_timeout_seconds,
              updated_at: yield* DateTime.now
            })
            yield* store.put(changed)
            if (resized && !disabled && (yield* leads(changed)).state === "active") {
              const starting = bringLocked(project, changed, "active", initiatorOf(caller))
              return yield* Effect.catchTag(starting, "Conflict", Effect.die)
            }
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
