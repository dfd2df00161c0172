/** Port: endpoints. A branch has at most one read-write endpoint. Deleted endpoints are not found. */
import { Context, type DateTime, Effect, Layer, Option } from "effect"
import type { BranchId, EndpointId, OrgId, ProjectId, RegionId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { Endpoint } from "./Endpoint.ts"
import type { EndpointUse, ProxyReport } from "./EndpointUse.ts"
import { makeMemoryActivity, type StoredEndpoint } from "./memoryActivity.ts"
import type { Project } from "./Project.ts"

/** An endpoint, and the organization of its project. */
export interface OwnedEndpoint {
  readonly endpoint: Endpoint
  readonly org_id: OrgId
}

export class EndpointStore extends Context.Service<
  EndpointStore,
  {
    /**
     * Inserts or replaces; `false` when it would be the second read-write endpoint of its branch. Atomic under
     * parallel calls. A deleted endpoint stays deleted.
     */
    readonly put: (endpoint: Endpoint) => Effect.Effect<boolean, StorageError>
    readonly find: (project: ProjectId, endpoint: EndpointId) => Effect.Effect<Option.Option<Endpoint>, StorageError>
    /** As `find` in any project, for proxies and the system. */
    readonly findAnywhere: (endpoint: EndpointId) => Effect.Effect<Option.Option<Endpoint>, StorageError>
    /** As `findAnywhere`, and locks the row until the end of the transaction. */
    readonly lock: (endpoint: EndpointId) => Effect.Effect<Option.Option<Endpoint>, StorageError>
    /** As `findAnywhere`, with the organization. `None` also where the project is deleted. */
    readonly findOwned: (endpoint: EndpointId) => Effect.Effect<Option.Option<OwnedEndpoint>, StorageError>
    /** As `findOwned`, and locks the endpoint, and nothing else, until the end of the transaction. */
    readonly lockOwned: (endpoint: EndpointId) => Effect.Effect<Option.Option<OwnedEndpoint>, StorageError>
    readonly markDeleted: (endpoint: EndpointId, now: DateTime.Utc) => Effect.Effect<void, StorageError>
    /** Newest first; `branch` limits the list to the endpoints of a branch. */
    readonly list: (
      project: ProjectId,
      branch: BranchId | null,
      page: PageRequest
    ) => Effect.Effect<Page<Endpoint>, StorageError>
    readonly ofBranch: (branch: BranchId) => Effect.Effect<ReadonlyArray<Endpoint>, StorageError>
    /**
     * Endpoints in state `active`, of all projects of the region, in the order of their ids, after `after`; at most
     * `limit`. `null` as the region: of every region.
     */
    readonly active: (
      region: RegionId | null,
      after: EndpointId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Endpoint>, StorageError>
    /**
     * Records what a proxy reports, at the time at which the report arrives. The last activity never moves back;
     * reports about other generations and reports of an earlier call are ignored. The last of several reports about one
     * endpoint counts.
     */
    readonly noteActivity: (report: ProxyReport) => Effect.Effect<void, StorageError>
    /** Records that reports can be received now. Also forgets reports of proxies that ended long ago. */
    readonly noteReceiving: Effect.Effect<void, StorageError>
    /** The use of an endpoint's compute, by the clock of the store. */
    readonly use: (endpoint: EndpointId) => Effect.Effect<Option.Option<EndpointUse>, StorageError>
    /**
     * The use of every compute that runs, with no change pending, and whose last activity is at least as long ago as
     * its endpoint allows.
     */
    readonly unused: Effect.Effect<ReadonlyArray<EndpointUse>, StorageError>
  }
>()("@narthex/core/records/projects/EndpointStore") {
  static readonly layerMemory: Layer.Layer<EndpointStore, never, MemoryStorage> = Layer.effect(
    EndpointStore,
    Effect.gen(function* () {
      const { table } = yield* MemoryStorage
      const endpoints = table<StoredEndpoint>("endpoint")
      const projects = table<{ readonly project: Project; readonly deleted_at: DateTime.Utc | null }>("project")
      const living = Effect.map(endpoints.all, (rows) =>
        rows.filter((row) => row.deleted_at === null).map((row) => row.endpoint)
      )
      const findAnywhere = (id: EndpointId) =>
        Effect.map(endpoints.get(id), (row) =>
          Option.map(
            Option.filter(row, ({ deleted_at }) => deleted_at === null),
            ({ endpoint }) => endpoint
          )
        )
      const findOwned = Effect.fnUntraced(function* (id: EndpointId) {
        const endpoint = Option.getOrUndefined(yield* findAnywhere(id))
        if (endpoint === undefined) return Option.none<OwnedEndpoint>()
        const row = Option.filter(yield* projects.get(endpoint.project_id), ({ deleted_at }) => deleted_at === null)
        return Option.map(row, ({ project: { org_id } }) => ({ endpoint, org_id }))
      })
      const activity = yield* makeMemoryActivity
      return EndpointStore.of({
        put: (endpoint) =>
          endpoints.modify((rows) => {
            const deleted_at = rows.find((row) => row.endpoint.id === endpoint.id)?.deleted_at ?? null
            const second = rows.some(
              (row) =>
                deleted_at === null &&
                row.deleted_at === null &&
                endpoint.type === "read_write" &&
                row.endpoint.type === "read_write" &&
                row.endpoint.branch_id === endpoint.branch_id &&
                row.endpoint.id !== endpoint.id
            )
            return [!second, second ? [] : [[endpoint.id, { endpoint, deleted_at }]]]
          }),
        find: (project, id) =>
          Effect.map(
            findAnywhere(id),
            Option.filter((row) => row.project_id === project)
          ),
        findAnywhere,
        lock: findAnywhere,
        findOwned,
        lockOwned: findOwned,
        markDeleted: (id, now) =>
          endpoints.modify((rows) => [
            undefined,
            rows.filter(({ endpoint }) => endpoint.id === id).map((row) => [id, { ...row, deleted_at: now }])
          ]),
        list: (project, branch, page) =>
          Effect.map(living, (rows) =>
            pageOfAll(
              rows.filter((row) => row.project_id === project && (branch === null || row.branch_id === branch)),
              page
            )
          ),
        ofBranch: (branch) => Effect.map(living, (rows) => rows.filter((row) => row.branch_id === branch)),
        active: (region, after, limit) =>
          Effect.map(living, (rows) =>
            rows
              .filter((row) => row.current_state === "active" && (after === null || row.id > after))
              .filter((row) => region === null || row.region_id === region)
              .toSorted((a, b) => (a.id < b.id ? -1 : 1))
              .slice(0, limit)
          ),
        ...activity
      })
    })
  )
}
