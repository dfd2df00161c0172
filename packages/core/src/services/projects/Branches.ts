/**
 * Creates branches as copies, resets, renames, protects and deletes them, and sets the default branch.
 *
 * Callers authorize first. Only what depends on the branch being *main* is decided again here, under the branch's lock.
 * A branch that becomes main loses the read-write credentials that agents minted on it, in the same commit.
 *
 * Pitfall: trusting the decision of the request. The branch may have become main since.
 */
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { BranchId, makeBranchId, makeEndpointId, requestedId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { Conflict, InvalidMember, type NotFound, orNotFound, Refused, type ResourceBusy } from "../../Refusals.ts"
import type { ApiKeyStore } from "../../records/keys/ApiKeyStore.ts"
import type { StoredOperation } from "../../records/operations/Operation.ts"
import type { OperationStore } from "../../records/operations/OperationStore.ts"
import { Branch } from "../../records/projects/Branch.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import { type Endpoint, newEndpoint } from "../../records/projects/Endpoint.ts"
import { defaultSize, SizeCatalog } from "../../records/projects/EndpointSize.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import { Project } from "../../records/projects/Project.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import { decideTarget } from "../../rules/authorization/decide.ts"
import type { CredentialPolicy } from "../../rules/authorization/Policy.ts"
import { type AnyCaller, branchScopeOf } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { initiatorOf, Operations } from "../operations/Operations.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { makeApplyRoles } from "./applyRoles.ts"
import { makeBranchQueue } from "./branchQueue.ts"
import { makeEndBranch } from "./endBranch.ts"
import { takeBranch } from "./takeBranch.ts"

export interface NewBranch {
  /** `null`: a name is generated. */
  readonly name: string | null
  /** `null`: the default branch. */
  readonly parent_id: string | null
  readonly protected: boolean
  /** `null`: it never expires. */
  readonly ttl_seconds: number | null
  /** Whether to create a read-write endpoint with it. */
  readonly endpoint: boolean
}

export interface BranchChanges {
  readonly name?: string
  readonly protected?: boolean
  /** `null`: it never expires. */
  readonly ttl_seconds?: number | null
}

export interface BranchWork {
  readonly branch: Branch
  readonly operations: ReadonlyArray<StoredOperation>
}

type Blocked = Conflict | NotFound | Refused | ResourceBusy | StorageError

export class Branches extends Context.Service<
  Branches,
  {
    /** The project's branches, newest first; a branch key sees its branch alone. */
    readonly list: (
      caller: AnyCaller,
      project: Pick<Project, "id">,
      page: PageRequest
    ) => Effect.Effect<Page<Branch>, StorageError>
    /** Schedules a copy of the parent. `Conflict`: the name is taken, or a protected branch would expire. */
    readonly create: (
      caller: AnyCaller,
      project: Project,
      wanted: NewBranch
    ) => Effect.Effect<
      BranchWork & { readonly endpoint: Endpoint | null },
      Conflict | InvalidMember | QuotaExceeded | StorageError
    >
    /** `Conflict`: the name is taken, or a main branch would expire. */
    readonly change: (
      caller: AnyCaller,
      policy: CredentialPolicy,
      branch: Branch,
      changes: BranchChanges
    ) => Effect.Effect<Branch, Exclude<Blocked, ResourceBusy>>
    /** Ends the branch. `Conflict`: it is main or has children; `ResourceBusy`: an operation is unfinished that is no `apply_config`. */
    readonly remove: (
      caller: AnyCaller,
      policy: CredentialPolicy,
      branch: Branch
    ) => Effect.Effect<ReadonlyArray<StoredOperation>, Blocked>
    /** Schedules replacing its data by the parent's. `Conflict`: it has no parent, or is main. */
    readonly reset: (
      caller: AnyCaller,
      policy: CredentialPolicy,
      branch: Branch
    ) => Effect.Effect<BranchWork, Blocked | QuotaExceeded>
    /** Makes it the project's default branch. It no longer expires. */
    readonly setDefault: (caller: AnyCaller, branch: Branch) => Effect.Effect<BranchWork, Blocked>
  }
>()("@narthex/core/services/projects/Branches") {
  static readonly layer: Layer.Layer<
    Branches,
    never,
    | ApiKeyStore
    | BranchRoleStore
    | BranchStore
    | EndpointStore
    | Operations
    | OperationStore
    | ProjectStore
    | Quotas
    | Transaction
  > = Layer.effect(
    Branches,
    Effect.gen(function* () {
      const endpoints = yield* EndpointStore
      const operations = yield* Operations
      const projects = yield* ProjectStore
      const quotas = yield* Quotas
      const roles = yield* BranchRoleStore
      const store = yield* BranchStore
      const endBranch = yield* makeEndBranch
      const { applyAlways } = yield* makeApplyRoles
      const { isFree } = yield* makeBranchQueue
      const { run } = yield* Transaction

      const list: Branches["Service"]["list"] = Effect.fn("Branches.list")((caller, { id }, page) =>
        store.list(id, branchScopeOf(caller), page)
      )

      const create: Branches["Service"]["create"] = Effect.fn("Branches.create")(function* (caller, project, wanted) {
        const step = Effect.gen(function* () {
          if (wanted.protected && wanted.ttl_seconds !== null) return yield* neverExpires
          const now = yield* DateTime.now
          const parent_id =
            wanted.parent_id === null ? project.default_branch_id : requestedId(BranchId, wanted.parent_id)
          const parent = yield* store.lock(project.id, parent_id)
          if (Option.isNone(parent))
            return yield* new InvalidMember({ path: ["parent_id"], reason: "There is no such branch in this project." })
          const id = yield* makeBranchId
          const expires = wanted.ttl_seconds !== null
          yield* takeBranch(quotas, project, { id, parent_id, expires, endpoint: wanted.endpoint })
          const branch = new Branch({
            id,
            project_id: project.id,
            region_id: project.region_id,
            parent_id,
            name: wanted.name?.trim() ?? `branch-${id.slice(-8)}`,
            current_state: "init",
            pending_state: "ready",
            default: false,
            protected: wanted.protected,
            made_by_agent: isAgent(caller),
            made_by_key_id: caller.kind === "api_key" ? caller.api_key_id : null,
            expires_at: expiry(now, wanted.ttl_seconds),
            created_at: now,
            updated_at: now,
            created_by: caller.user.ref
          })
          if (!(yield* store.put(branch))) return yield* taken(branch.name)
          const size = defaultSize(yield* SizeCatalog)
          const endpoint = wanted.endpoint
            ? newEndpoint(branch, { id: yield* makeEndpointId, type: "read_write", now, size })
            : null
          if (endpoint !== null) yield* endpoints.put(endpoint)
          const operation = yield* operations.schedule({
            project,
            branch_id: id,
            endpoint_id: endpoint?.id ?? null,
            action: "create_branch",
            initiator: initiatorOf(caller),
            copies: parent_id
          })
          return { branch, endpoint, operations: [operation] }
        })
        return yield* run(step)
      })

      /** Locks the branch and decides again whether the caller may change it. */
      const locked = Effect.fnUntraced(function* (
        caller: AnyCaller,
        policy: Pick<CredentialPolicy, "agent">,
        given: Branch
      ) {
        const branch = yield* orNotFound(store.lock(given.project_id, given.id))
        const refusal = decideTarget(policy, caller, branch)
        return refusal === undefined ? branch : yield* new Refused(refusal)
      })

      const projectOf = (caller: AnyCaller, branch: Branch) =>
        orNotFound(projects.lock(caller.org_id, branch.project_id))

      /** Revokes the read-write credentials that agents minted on a branch that becomes main (docs/design/authorization.md Z25). */
      const endAgentRoles = Effect.fnUntraced(function* (caller: AnyCaller, project: Project, branch: Branch) {
        if ((yield* roles.revokeAgentRoles(branch.id, yield* DateTime.now)) === 0) return []
        return [yield* applyAlways({ project, branch_id: branch.id, initiator: initiatorOf(caller) })]
      })

      const change: Branches["Service"]["change"] = Effect.fn("Branches.change")(
        function* (caller, policy, given, changes) {
          const step = Effect.gen(function* () {
            const branch = yield* locked(caller, policy, given)
            const now = yield* DateTime.now
            const changed = new Branch({
              ...branch,
              name: changes.name?.trim() ?? branch.name,
              protected: changes.protected ?? branch.protected,
              expires_at: changes.ttl_seconds === undefined ? branch.expires_at : expiry(now, changes.ttl_seconds),
              updated_at: now
            })
            if (changed.main && changed.expires_at !== null) return yield* neverExpires
            if (!(yield* store.put(changed))) return yield* taken(changed.name)
            if (!changed.main || branch.main) return changed
            // Not locked: `setDefault` locks the project before the branch, so locking it here could deadlock.
            const project = yield* orNotFound(projects.find(caller.org_id, branch.project_id))
            yield* endAgentRoles(caller, project, changed)
            return changed
          })
          return yield* run(step)
        }
      )

      const remove: Branches["Service"]["remove"] = Effect.fn("Branches.remove")(function* (caller, policy, given) {
        const step = Effect.gen(function* () {
          const project = yield* projectOf(caller, given)
          const branch = yield* locked(caller, policy, given)
          if (branch.default)
            return yield* new Conflict({
              reason: "The default branch cannot be deleted. Make another one the default first."
            })
          if (branch.protected) return yield* new Conflict({ reason: "The branch is protected. Unprotect it first." })
          if (yield* store.hasChildren(branch.id))
            return yield* new Conflict({ reason: "The branch has children. Delete them first." })
          yield* isFree(branch.id, "apply_config")
          return [yield* endBranch(project, branch, initiatorOf(caller))]
        })
        return yield* run(step)
      })

      const reset: Branches["Service"]["reset"] = Effect.fn("Branches.reset")(function* (caller, policy, given) {
        const step = Effect.gen(function* () {
          const project = yield* projectOf(caller, given)
          const branch = yield* locked(caller, policy, given)
          if (branch.parent_id === null) return yield* new Conflict({ reason: "The branch has no parent to reset to." })
          if (branch.default)
            return yield* new Conflict({
              reason: "The default branch cannot be reset. Make another one the default first."
            })
          if (branch.protected) return yield* new Conflict({ reason: "The branch is protected. Unprotect it first." })
          yield* isFree(branch.id)
          yield* quotas.takeCopy(project.org_id, { from: branch.parent_id, to: branch.id })
          const resetting = new Branch({
            ...branch,
            current_state: "resetting",
            pending_state: "ready",
            updated_at: yield* DateTime.now
          })
          yield* store.put(resetting)
          const work = { project, branch_id: branch.id, endpoint_id: null, initiator: initiatorOf(caller) }
          return {
            branch: resetting,
            operations: [yield* operations.schedule({ ...work, action: "reset_branch", copies: branch.parent_id })]
          }
        })
        return yield* run(step)
      })

      const setDefault: Branches["Service"]["setDefault"] = Effect.fn("Branches.setDefault")(function* (caller, given) {
        const step = Effect.gen(function* () {
          const project = yield* projectOf(caller, given)
          const branch = yield* locked(caller, { agent: "never" }, given)
          if (branch.default) return { branch, operations: [] }
          yield* isFree(branch.id)
          const now = yield* DateTime.now
          const former = Option.getOrUndefined(yield* store.lock(project.id, project.default_branch_id))
          if (former !== undefined) yield* store.put(new Branch({ ...former, default: false, updated_at: now }))
          const made = new Branch({ ...branch, default: true, expires_at: null, updated_at: now })
          yield* store.put(made)
          yield* projects.update(new Project({ ...project, default_branch_id: made.id, updated_at: now }))
          return { branch: made, operations: yield* endAgentRoles(caller, project, made) }
        })
        return yield* run(step)
      })

      return Branches.of({ list, create, change, remove, reset, setDefault })
    })
  )
}

const isAgent = (caller: AnyCaller) => caller.kind === "api_key" && caller.capability === "agent"

const expiry = (now: DateTime.Utc, seconds: number | null) =>
  seconds === null ? null : DateTime.addDuration(now, Duration.seconds(seconds))

const neverExpires = new Conflict({ reason: "The default branch and protected branches never expire." })

const taken = (name: string) => new Conflict({ reason: `Another branch of this project is called "${name}".` })
