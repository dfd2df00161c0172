/**
 * Endpoints: made, started, suspended, changed and ended by callers of the API. Waking by a connection is `Wakes`.
 *
 * Start and suspend say what the endpoint shall become; an empty list of operations means that it is so, or will be by
 * an operation that was answered before.
 *
 * Pitfall: deciding by the present state. What counts is the desired state: a start during a suspend waits for it and
 * then starts.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { decideTarget } from "../authorization/decide.ts"
import { type AnyCaller, branchScopeOf } from "../authorization/Principal.ts"
import { BranchId, makeEndpointId, requestedId } from "../Ids.ts"
import type { StoredOperation } from "../operations/Operation.ts"
import type { Initiator } from "../operations/Operation.ts"
import { desiredState } from "../operations/desiredState.ts"
import { initiatorOf, Operations } from "../operations/Operations.ts"
import { OperationStore } from "../operations/OperationStore.ts"
import type { Page, PageRequest } from "../Page.ts"
import { Conflict, InvalidMember, NotFound, Refused } from "../Refusals.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"
import { BranchStore } from "../projects/BranchStore.ts"
import { Endpoint, type EndpointType } from "../projects/Endpoint.ts"
import { EndpointStore } from "../projects/EndpointStore.ts"
import type { Project } from "../projects/Project.ts"
import { newEndpoint } from "./Projects.ts"

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

type Owner = Pick<Project, "id" | "org_id">

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
    ) => Effect.Effect<EndpointWork, Conflict | InvalidMember | NotFound | Refused | StorageError>
    readonly change: (
      caller: AnyCaller,
      project: Owner,
      endpoint: Endpoint,
      changes: EndpointChanges
    ) => Effect.Effect<EndpointWork, NotFound | StorageError>
    readonly remove: (
      caller: AnyCaller,
      project: Owner,
      endpoint: Endpoint
    ) => Effect.Effect<ReadonlyArray<StoredOperation>, NotFound | StorageError>
    /** Brings an endpoint towards a state, within a transaction of its own or the running one. */
    readonly head: (
      project: Owner,
      endpoint: Endpoint["id"],
      towards: "active" | "idle",
      initiator: Initiator
    ) => Effect.Effect<EndpointWork, Conflict | NotFound | StorageError>
  }
>()("@narthex/core/provisioning/Endpoints") {
  static readonly layer: Layer.Layer<
    Endpoints,
    never,
    BranchStore | EndpointStore | Operations | OperationStore | Transaction
  > = Layer.effect(
    Endpoints,
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const operations = yield* Operations
      const pending = yield* OperationStore
      const store = yield* EndpointStore
      const { run } = yield* Transaction

      const list: Endpoints["Service"]["list"] = Effect.fn("Endpoints.list")((caller, { id }, page) =>
        store.list(id, branchScopeOf(caller), page)
      )

      /** The branch that a body names, if the caller may add an endpoint to it. */
      const branchFor = Effect.fnUntraced(function* (caller: AnyCaller, project: Project, id: string) {
        const branch = Option.getOrUndefined(yield* branches.find(project.id, requestedId(BranchId, id)))
        if (branch === undefined)
          return yield* new InvalidMember({ path: ["branch_id"], reason: "There is no such branch in this project." })
        const refusal = decideTarget({ agent: "not_main" }, caller, branch)
        return refusal === undefined ? branch : yield* new Refused(refusal)
      })

      const locked = Effect.fnUntraced(function* (id: Endpoint["id"]) {
        const endpoint = Option.getOrUndefined(yield* store.lock(id))
        return endpoint === undefined ? yield* new NotFound({}) : endpoint
      })

      const work = (project: Owner, endpoint: Endpoint, action: StoredOperation["action"], initiator: Initiator) =>
        operations.schedule({ project, branch_id: endpoint.branch_id, endpoint_id: endpoint.id, action, initiator })

      const create: Endpoints["Service"]["create"] = Effect.fn("Endpoints.create")(function* (
        caller,
        project,
        { branch_id, suspend_timeout_seconds, type }
      ) {
        const given = yield* branchFor(caller, project, branch_id)
        const step = Effect.gen(function* () {
          const branch = Option.getOrUndefined(yield* branches.lock(project.id, given.id))
          if (branch === undefined) return yield* new NotFound({})
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
          return { endpoint, operations: [yield* work(project, endpoint, "create_compute", initiatorOf(caller))] }
        })
        return yield* run(step)
      })

      const head: Endpoints["Service"]["head"] = Effect.fn("Endpoints.head")(
        function* (project, id, towards, initiator) {
          const step = Effect.gen(function* () {
            const endpoint = yield* locked(id)
            if (towards === "active" && endpoint.disabled)
              return yield* new Conflict({ reason: "The endpoint is disabled. Enable it first." })
            const { by, state } = desiredState(endpoint, yield* pending.unfinished(endpoint.branch_id))
            if (state === towards) return { endpoint, operations: Option.toArray(by) }
            const action = towards === "active" ? "start_compute" : "suspend_compute"
            const headed = new Endpoint({ ...endpoint, pending_state: towards, updated_at: yield* DateTime.now })
            // First the endpoint, then its work, as in `create`: in another order two of a branch wait for each other.
            yield* store.put(headed)
            return { endpoint: headed, operations: [yield* work(project, endpoint, action, initiator)] }
          })
          return yield* run(step)
        }
      )

      const change: Endpoints["Service"]["change"] = Effect.fn("Endpoints.change")(
        function* (caller, project, given, changes) {
          const step = Effect.gen(function* () {
            const endpoint = yield* locked(given.id)
            const disabled = changes.disabled ?? endpoint.disabled
            yield* store.put(
              new Endpoint({
                ...endpoint,
                disabled,
                suspend_timeout_seconds: changes.suspend_timeout_seconds ?? endpoint.suspend_timeout_seconds,
                updated_at: yield* DateTime.now
              })
            )
            // A disabled endpoint serves nobody, so its compute goes too.
            if (!disabled || endpoint.disabled) return { endpoint: yield* locked(given.id), operations: [] }
            return yield* Effect.catchTag(head(project, given.id, "idle", initiatorOf(caller)), "Conflict", Effect.die)
          })
          return yield* run(step)
        }
      )

      const remove: Endpoints["Service"]["remove"] = Effect.fn("Endpoints.remove")(function* (caller, project, given) {
        const step = Effect.gen(function* () {
          const endpoint = yield* locked(given.id)
          yield* store.markDeleted(endpoint.id, yield* DateTime.now)
          return [yield* work(project, endpoint, "delete_compute", initiatorOf(caller))]
        })
        return yield* run(step)
      })

      return Endpoints.of({ list, create, change, remove, head })
    })
  )
}
