/**
 * Creates projects with their default branch and its endpoint, changes them, and deletes them with all they contain.
 *
 * Callers authorize first. The rows change at once; what takes time on the machines is an operation, which the runner
 * performs.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { makeBranchId, makeEndpointId, makeProjectId } from "../../Ids.ts"
import { maxPageSize, type Page, type PageRequest } from "../../Page.ts"
import { type InvalidMember, type NotFound, orNotFound, Refused } from "../../Refusals.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { apiKeyRevoked, projectRevoked } from "../../records/events/InternalEvents.ts"
import { ApiKeyStore } from "../../records/keys/ApiKeyStore.ts"
import type { StoredOperation } from "../../records/operations/Operation.ts"
import type { OperationStore } from "../../records/operations/OperationStore.ts"
import { Branch } from "../../records/projects/Branch.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import { type Endpoint, newEndpoint } from "../../records/projects/Endpoint.ts"
import { chooseSize, SizeCatalog } from "../../records/projects/EndpointSize.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import { Project } from "../../records/projects/Project.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import type { RegionRequired, RegionUnknown } from "../../records/regions/Region.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { initiatorOf, Operations } from "../operations/Operations.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { Regions } from "../regions/Regions.ts"
import { makeDeleteBranch } from "./endBranch.ts"

/** `region` left out or `null`: the only region there is. `size` is that of the endpoint: left out or `null`, the default. */
export interface NewProject {
  readonly name: string
  readonly region?: string | null
  readonly size?: string | null
}

/** A member that is left out stays as it is. */
export interface ProjectChanges {
  readonly name?: string
}

export interface CreatedProject {
  readonly project: Project
  readonly branch: Branch
  readonly endpoint: Endpoint
  readonly operations: ReadonlyArray<StoredOperation>
}

export class Projects extends Context.Service<
  Projects,
  {
    /**
     * `RegionRequired`: none is given, and there are several. `Refused`: the organization or the caller's membership has
     * ended since the request was admitted.
     */
    readonly create: (
      caller: AnyCaller,
      wanted: NewProject
    ) => Effect.Effect<
      CreatedProject,
      InvalidMember | QuotaExceeded | Refused | RegionRequired | RegionUnknown | StorageError
    >
    /** The projects that the caller may see, newest first: all of the organization, or the one that a key is scoped to. */
    readonly list: (caller: AnyCaller, page: PageRequest) => Effect.Effect<Page<Project>, StorageError>
    readonly change: (project: Project, changes: ProjectChanges) => Effect.Effect<Project, NotFound | StorageError>
    /**
     * Deletes the project with its branches and endpoints, and revokes the keys scoped to any of them. Their streams end
     * after the last event. Returns the operations that remove the data.
     */
    readonly remove: (
      caller: AnyCaller,
      project: Project
    ) => Effect.Effect<ReadonlyArray<StoredOperation>, NotFound | StorageError>
  }
>()("@narthex/core/services/projects/Projects") {
  static readonly layer: Layer.Layer<
    Projects,
    never,
    | AccountStore
    | ApiKeyStore
    | BranchRoleStore
    | BranchStore
    | EndpointStore
    | Operations
    | OperationStore
    | ProjectStore
    | Quotas
    | Regions
    | Transaction
  > = Layer.effect(
    Projects,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const branches = yield* BranchStore
      const endpoints = yield* EndpointStore
      const keys = yield* ApiKeyStore
      const operations = yield* Operations
      const quotas = yield* Quotas
      const regions = yield* Regions
      const roles = yield* BranchRoleStore
      const store = yield* ProjectStore
      const deleteBranch = yield* makeDeleteBranch
      const { emit, run } = yield* Transaction

      const create: Projects["Service"]["create"] = Effect.fn("Projects.create")(function* (caller, wanted) {
        const step = Effect.gen(function* () {
          // Before everything else: the end of the organization either finds the project or has happened.
          yield* accounts.holdOrganization(caller.org_id)
          if (Option.isNone(yield* accounts.findMembership(caller.org_id, caller.user.id)))
            return yield* new Refused({ code: "not_a_member", required: "membership", held: null })
          const region_id = yield* regions.choose(wanted.region ?? null)
          const size = yield* Effect.fromResult(chooseSize(yield* SizeCatalog, wanted.size ?? null))
          const now = yield* DateTime.now
          const branch_id = yield* makeBranchId
          yield* quotas.take(caller.org_id, { projects: 1, branches: 1, endpoints: 1 })
          yield* quotas.takeCopy(caller.org_id, { from: null, to: branch_id })
          const dates = { created_at: now, updated_at: now }
          const project = new Project({
            id: yield* makeProjectId,
            org_id: caller.org_id,
            name: wanted.name.trim(),
            region_id,
            default_branch_id: branch_id,
            ...dates
          })
          const branch = new Branch({
            id: branch_id,
            project_id: project.id,
            region_id,
            parent_id: null,
            name: "main",
            current_state: "init",
            pending_state: "ready",
            default: true,
            protected: false,
            made_by_agent: false,
            made_by_key_id: caller.kind === "api_key" ? caller.api_key_id : null,
            expires_at: null,
            created_by: caller.user.ref,
            ...dates
          })
          const endpoint = newEndpoint(branch, {
            id: yield* makeEndpointId,
            type: "read_write",
            now,
            size
          })
          yield* store.insert(project)
          yield* branches.put(branch)
          yield* endpoints.put(endpoint)
          const operation = yield* operations.schedule({
            project,
            branch_id,
            endpoint_id: endpoint.id,
            action: "create_timeline",
            initiator: initiatorOf(caller)
          })
          return { project, branch, endpoint, operations: [operation] }
        })
        return yield* run(step)
      })

      const list = Effect.fn("Projects.list")(function* (caller: AnyCaller, page: PageRequest) {
        const only = caller.kind === "api_key" && caller.scope.type !== "organization" ? caller.scope.project_id : null
        return yield* store.list(caller.org_id, only, page)
      })

      const locked = ({ id, org_id }: Project) => orNotFound(store.lock(org_id, id))

      const change = Effect.fn("Projects.change")(function* (given: Project, changes: ProjectChanges) {
        const step = Effect.gen(function* () {
          const project = yield* locked(given)
          const changed = new Project({
            ...project,
            name: changes.name?.trim() ?? project.name,
            updated_at: yield* DateTime.now
          })
          yield* store.update(changed)
          return changed
        })
        return yield* run(step)
      })

      const everyBranch = Effect.fnUntraced(function* (project: Project) {
        const all: Array<Branch> = []
        let after: string | null = null
        do {
          const page: Page<Branch> = yield* branches.list(project.id, null, { limit: maxPageSize, after })
          all.push(...page.items)
          after = page.next_cursor === null ? null : (page.items.at(-1)?.id ?? null)
        } while (after !== null)
        return all
      })

      /**
       * Locks the branches of the project. A transaction that creates a branch locks its parent: once the parent is
       * locked here that branch is visible, so another round finds it.
       */
      const lockEveryBranch = Effect.fnUntraced(function* (project: Project) {
        const seen = new Set<Branch["id"]>()
        const found: Array<Branch> = []
        const unseen = Effect.map(everyBranch(project), (all) => all.filter(({ id }) => !seen.has(id)))
        for (let left = yield* unseen; left.length > 0; left = yield* unseen)
          for (const { id } of left) {
            seen.add(id)
            found.push(...Option.toArray(yield* branches.lock(project.id, id)))
          }
        return found
      })

      const remove = Effect.fn("Projects.remove")(function* (caller: AnyCaller, given: Project) {
        const step = Effect.gen(function* () {
          const project = yield* locked(given)
          const now = yield* DateTime.now
          const every = yield* lockEveryBranch(project)
          const ended = yield* keys.revokeAll({ project_id: project.id }, "scope_deleted", now)
          yield* roles.revoke({ project_id: project.id }, now)
          const scheduled = yield* Effect.forEach(every, (branch) => deleteBranch(project, branch, initiatorOf(caller)))
          yield* store.markDeleted(project.id, now)
          for (const id of ended) yield* emit(apiKeyRevoked(project.org_id, id))
          yield* emit(projectRevoked(project.org_id, project.id))
          return scheduled
        })
        return yield* run(step)
      })

      return Projects.of({ create, list, change, remove })
    })
  )
}
