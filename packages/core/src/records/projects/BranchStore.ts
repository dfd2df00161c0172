/**
 * Port: branches. A name is unique among a project's branches that are not deleted. Only `findRetained` finds deleted
 * branches.
 */
import type { DateTime } from "effect"
import { Context, Effect, Layer, Option } from "effect"
import type { BranchId, ProjectId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { Branch } from "./Branch.ts"

interface Stored {
  readonly branch: Branch
  readonly deleted_at: DateTime.Utc | null
}

export class BranchStore extends Context.Service<
  BranchStore,
  {
    /**
     * Inserts or replaces; `false` when another branch of the project has the name. Atomic under parallel calls.
     * A deleted branch stays deleted.
     */
    readonly put: (branch: Branch) => Effect.Effect<boolean, StorageError>
    readonly find: (project: ProjectId, branch: BranchId) => Effect.Effect<Option.Option<Branch>, StorageError>
    /** As `find` in any project, for an id that comes without one. */
    readonly findAnywhere: (branch: BranchId) => Effect.Effect<Option.Option<Branch>, StorageError>
    /** As `findAnywhere`, and a deleted branch too while its row is retained. */
    readonly findRetained: (branch: BranchId) => Effect.Effect<Option.Option<Branch>, StorageError>
    /** As `find`, and locks the row until the end of the transaction. */
    readonly lock: (project: ProjectId, branch: BranchId) => Effect.Effect<Option.Option<Branch>, StorageError>
    readonly markDeleted: (branch: BranchId, now: DateTime.Utc) => Effect.Effect<void, StorageError>
    /** Newest first; `only` limits the list to that branch. */
    readonly list: (
      project: ProjectId,
      only: BranchId | null,
      page: PageRequest
    ) => Effect.Effect<Page<Branch>, StorageError>
    readonly hasChildren: (branch: BranchId) => Effect.Effect<boolean, StorageError>
    /** Branches that have expired at `now`, at most `limit`. */
    readonly expired: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Branch>, StorageError>
  }
>()("@narthex/core/records/projects/BranchStore") {
  static readonly layerMemory: Layer.Layer<BranchStore, never, MemoryStorage> = Layer.effect(
    BranchStore,
    Effect.gen(function* () {
      const branches = (yield* MemoryStorage).table<Stored>("branch")
      const living = Effect.map(branches.all, (rows) =>
        rows.filter((row) => row.deleted_at === null).map((row) => row.branch)
      )
      const findAnywhere = (id: BranchId) =>
        Effect.map(branches.get(id), (row) =>
          Option.map(
            Option.filter(row, ({ deleted_at }) => deleted_at === null),
            ({ branch }) => branch
          )
        )
      const find = (project: ProjectId, id: BranchId) =>
        Effect.map(
          findAnywhere(id),
          Option.filter((branch) => branch.project_id === project)
        )
      return BranchStore.of({
        put: (branch) =>
          branches.modify((rows) => {
            const deleted_at = rows.find((row) => row.branch.id === branch.id)?.deleted_at ?? null
            const taken = rows.some(
              (row) =>
                deleted_at === null &&
                row.deleted_at === null &&
                row.branch.id !== branch.id &&
                row.branch.project_id === branch.project_id &&
                row.branch.name === branch.name
            )
            return [!taken, taken ? [] : [[branch.id, { branch, deleted_at }]]]
          }),
        find,
        findAnywhere,
        findRetained: (id) =>
          Effect.map(
            branches.get(id),
            Option.map(({ branch }) => branch)
          ),
        lock: find,
        markDeleted: (id, now) =>
          branches.modify((rows) => [
            undefined,
            rows.filter(({ branch }) => branch.id === id).map((row) => [id, { ...row, deleted_at: now }])
          ]),
        list: (project, only, page) =>
          Effect.map(living, (rows) =>
            pageOfAll(
              rows.filter((row) => row.project_id === project && (only === null || row.id === only)),
              page
            )
          ),
        hasChildren: (id) => Effect.map(living, (rows) => rows.some((row) => row.parent_id === id)),
        expired: (now, limit) =>
          Effect.map(living, (rows) =>
            rows
              .filter((row) => row.expires_at !== null && row.expires_at.epochMilliseconds <= now.epochMilliseconds)
              .slice(0, limit)
          )
      })
    })
  )
}
