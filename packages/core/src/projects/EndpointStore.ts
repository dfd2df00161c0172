/** Port: endpoints. A branch has at most one read-write endpoint. Deleted endpoints are not found. */
import type { DateTime } from "effect"
import { Context, Effect, Layer, Option } from "effect"
import type { BranchId, EndpointId, ProjectId } from "../Ids.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { type Page, type PageRequest, pageOfAll } from "../Page.ts"
import type { StorageError } from "../StorageError.ts"
import { Endpoint } from "./Endpoint.ts"

interface Stored {
  readonly endpoint: Endpoint
  readonly deleted_at: DateTime.Utc | null
}

/** A proxy's observation of a compute. It applies to its own generation only. */
export interface ActivityReport {
  readonly endpoint_id: EndpointId
  readonly generation: number
  readonly connections: number
  readonly last_active_at: DateTime.Utc
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
    readonly markDeleted: (endpoint: EndpointId, now: DateTime.Utc) => Effect.Effect<void, StorageError>
    /** Newest first; `branch` limits the list to the endpoints of a branch. */
    readonly list: (
      project: ProjectId,
      branch: BranchId | null,
      page: PageRequest
    ) => Effect.Effect<Page<Endpoint>, StorageError>
    readonly ofBranch: (branch: BranchId) => Effect.Effect<ReadonlyArray<Endpoint>, StorageError>
    /** Every endpoint in state `active`, of all projects. */
    readonly active: Effect.Effect<ReadonlyArray<Endpoint>, StorageError>
    /**
     * Records connections and activity. `last_active_at` never moves back; reports about other generations are ignored.
     * Of several reports about the same endpoint the last one determines its connections.
     */
    readonly noteActivity: (reports: ReadonlyArray<ActivityReport>) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/projects/EndpointStore") {
  static readonly layerMemory: Layer.Layer<EndpointStore, never, MemoryStorage> = Layer.effect(
    EndpointStore,
    Effect.gen(function* () {
      const endpoints = (yield* MemoryStorage).table<Stored>("endpoint")
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
      const seen = (endpoint: Endpoint, report: ActivityReport) =>
        new Endpoint({
          ...endpoint,
          connections: report.connections,
          last_active_at:
            endpoint.last_active_at !== null &&
            endpoint.last_active_at.epochMilliseconds > report.last_active_at.epochMilliseconds
              ? endpoint.last_active_at
              : report.last_active_at
        })
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
        active: Effect.map(living, (rows) => rows.filter((row) => row.current_state === "active")),
        noteActivity: (reports) =>
          endpoints.modify((rows) => [
            undefined,
            rows
              .filter(({ deleted_at }) => deleted_at === null)
              .flatMap((row) => {
                const about = reports.filter(
                  (report) => report.endpoint_id === row.endpoint.id && report.generation === row.endpoint.generation
                )
                return about.length === 0
                  ? []
                  : [[row.endpoint.id, { ...row, endpoint: about.reduce(seen, row.endpoint) }] as const]
              })
          ])
      })
    })
  )
}
