/**
 * Projects of an organization: made with their default branch and its endpoint, renamed, and ended with all they hold.
 *
 * Callers authorize first. Everything that takes time is an operation; the rows are there at once.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { AnyCaller } from "../authorization/Principal.ts"
import { apiKeyRevoked, projectRevoked } from "../events/InternalEvents.ts"
import { makeBranchId, makeEndpointId, makeProjectId } from "../Ids.ts"
import { ApiKeyStore } from "../keys/ApiKeyStore.ts"
import type { StoredOperation } from "../operations/Operation.ts"
import { initiatorOf, Operations } from "../operations/Operations.ts"
import { maxPageSize, type Page, type PageRequest } from "../Page.ts"
import { NotFound } from "../Refusals.ts"
import type { RegionRequired, RegionUnknown } from "../regions/Region.ts"
import { Regions } from "../regions/Regions.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"
import { Branch } from "../projects/Branch.ts"
import { BranchStore } from "../projects/BranchStore.ts"
import { defaultSuspendTimeout, Endpoint } from "../projects/Endpoint.ts"
import { EndpointStore } from "../projects/EndpointStore.ts"
import { Project } from "../projects/Project.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"

export interface CreatedProject {
  readonly project: Project
  readonly branch: Branch
  readonly endpoint: Endpoint
  readonly operations: ReadonlyArray<StoredOperation>
}

export class Projects extends Context.Service<
  Projects,
  {
    /** `region` null: the control plane chooses, if there is but one. */
    readonly create: (
      caller: AnyCaller,
      wanted: { readonly name: string; readonly region: string | null }
    ) => Effect.Effect<CreatedProject, RegionRequired | RegionUnknown | StorageError>
    /** Those in reach of the caller, newest first. */
    readonly list: (caller: AnyCaller, page: PageRequest) => Effect.Effect<Page<Project>, StorageError>
    readonly rename: (project: Project, name: string) => Effect.Effect<Project, NotFound | StorageError>
    /** Ends the project, its branches, endpoints and the keys scoped to it. Answers the operations that clean up. */
    readonly remove: (
      caller: AnyCaller,
      project: Project
    ) => Effect.Effect<ReadonlyArray<StoredOperation>, NotFound | StorageError>
  }
>()("@narthex/core/provisioning/Projects") {
  static readonly layer: Layer.Layer<
    Projects,
    never,
    ApiKeyStore | BranchStore | EndpointStore | Operations | ProjectStore | Regions | Transaction
  > = Layer.effect(
    Projects,
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const endpoints = yield* EndpointStore
      const keys = yield* ApiKeyStore
      const operations = yield* Operations
      const regions = yield* Regions
      const store = yield* ProjectStore
      const { emit, run } = yield* Transaction

      const create: Projects["Service"]["create"] = Effect.fn("Projects.create")(function* (caller, { name, region }) {
        const step = Effect.gen(function* () {
          const region_id = yield* regions.choose(region)
          const now = yield* DateTime.now
          const branch_id = yield* makeBranchId
          const dates = { created_at: now, updated_at: now }
          const project = new Project({
            id: yield* makeProjectId,
            org_id: caller.org_id,
            name: name.trim(),
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
            expires_at: null,
            created_by: caller.user.ref,
            ...dates
          })
          const endpoint = newEndpoint(branch, {
            id: yield* makeEndpointId,
            type: "read_write",
            now
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

      const locked = Effect.fnUntraced(function* ({ id, org_id }: Project) {
        const project = Option.getOrUndefined(yield* store.lock(org_id, id))
        return project === undefined ? yield* new NotFound({}) : project
      })

      const rename = Effect.fn("Projects.rename")(function* (project: Project, name: string) {
        const step = Effect.gen(function* () {
          const renamed = new Project({
            ...(yield* locked(project)),
            name: name.trim(),
            updated_at: yield* DateTime.now
          })
          yield* store.update(renamed)
          return renamed
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

      const remove = Effect.fn("Projects.remove")(function* (caller: AnyCaller, given: Project) {
        const step = Effect.gen(function* () {
          const project = yield* locked(given)
          const now = yield* DateTime.now
          const scheduled: Array<StoredOperation> = []
          // A branch that is being made holds its parent: it is there by the time the parent is ours, and seen next time.
          for (let left = yield* everyBranch(project); left.length > 0; left = yield* everyBranch(project))
            for (const branch of left) {
              yield* branches.lock(project.id, branch.id)
              for (const endpoint of yield* endpoints.ofBranch(branch.id))
                yield* endpoints.markDeleted(endpoint.id, now)
              yield* branches.markDeleted(branch.id, now)
              scheduled.push(
                yield* operations.schedule({
                  project,
                  branch_id: branch.id,
                  endpoint_id: null,
                  action: "delete_timeline",
                  initiator: initiatorOf(caller)
                })
              )
            }
          yield* store.markDeleted(project.id, now)
          for (const id of yield* keys.revokeAll({ project_id: project.id }, "scope_deleted", now))
            yield* emit(apiKeyRevoked(project.org_id, id))
          yield* emit(projectRevoked(project.org_id, project.id))
          return scheduled
        })
        return yield* run(step)
      })

      return Projects.of({ create, list, rename, remove })
    })
  )
}

/** An endpoint of a branch, as it is when it is made: suspended, and `init` until its branch is ready. */
export const newEndpoint = (
  branch: Branch,
  {
    id,
    now,
    suspend_timeout_seconds = defaultSuspendTimeout,
    type
  }: Pick<Endpoint, "id" | "type"> & { readonly now: DateTime.Utc; readonly suspend_timeout_seconds?: number }
): Endpoint =>
  new Endpoint({
    id,
    project_id: branch.project_id,
    branch_id: branch.id,
    region_id: branch.region_id,
    type,
    current_state: "init",
    pending_state: "idle",
    disabled: false,
    suspend_timeout_seconds,
    last_active_at: null,
    started_at: null,
    suspended_at: null,
    created_at: now,
    updated_at: now,
    generation: 0,
    address: null,
    connections: 0
  })
