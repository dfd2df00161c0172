/**
 * Port: purges ended records: final operations, deleted projects, branches and endpoints, roles, API keys and
 * invitations.
 *
 * One port purges them all because the order counts: a record is purged only when no other record refers to it,
 * including records that are kept for longer.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { StorageError } from "../../StorageError.ts"
import type { StoredInvitation } from "../accounts/Invitation.ts"
import type { StoredApiKey } from "../keys/ApiKey.ts"
import { MemoryStorage, type Table } from "../memory/MemoryStorage.ts"
import { isFinal, type StoredOperation } from "../operations/Operation.ts"
import type { Branch } from "../projects/Branch.ts"
import type { BranchRole } from "../projects/BranchRole.ts"
import type { Endpoint } from "../projects/Endpoint.ts"
import type { Project } from "../projects/Project.ts"

/** The instants before which an ended record is purged. */
export interface EndedBefore {
  readonly operations: DateTime.Utc
  readonly records: DateTime.Utc
}

export class EndedRecordStore extends Context.Service<
  EndedRecordStore,
  {
    /**
     * Purges at most `limit` records of each kind, and returns how many in all. Several calls at once do no harm: each
     * record is purged by one of them.
     */
    readonly purge: (before: EndedBefore, limit: number) => Effect.Effect<number, StorageError>
  }
>()("@narthex/core/records/purge/EndedRecordStore") {
  static readonly layerMemory: Layer.Layer<EndedRecordStore, never, MemoryStorage> = Layer.effect(
    EndedRecordStore,
    Effect.gen(function* () {
      const { table, transaction } = yield* MemoryStorage
      // As the stores of these tables keep them.
      const operations = table<StoredOperation>("operation")
      const order = table<unknown>("operation_order")
      const roles = table<BranchRole>("branch_role")
      const keys = table<StoredApiKey>("api_key")
      const invitations = table<StoredInvitation>("invitation")
      const endpoints = table<{ readonly endpoint: Endpoint; readonly deleted_at: DateTime.Utc | null }>("endpoint")
      const branches = table<{ readonly branch: Branch; readonly deleted_at: DateTime.Utc | null }>("branch")
      const projects = table<{ readonly project: Project; readonly deleted_at: DateTime.Utc | null }>("project")

      const purge = Effect.fnUntraced(function* (before: EndedBefore, limit: number) {
        let purged = 0
        const past = (...ends: ReadonlyArray<DateTime.Utc | null>) =>
          ends.some((end) => end !== null && DateTime.isLessThan(end, before.records))
        const remove = <Row>(rows: Table<Row>, keyOf: (row: Row) => string, ended: (row: Row) => boolean) =>
          Effect.gen(function* () {
            const found = (yield* rows.all).filter(ended).slice(0, limit)
            for (const row of found) yield* rows.remove(keyOf(row))
            purged += found.length
            return found
          })

        const gone = yield* remove(
          operations,
          ({ id }) => id,
          ({ finished_at, status }) =>
            isFinal(status) && finished_at !== null && DateTime.isLessThan(finished_at, before.operations)
        )
        for (const { id } of gone) yield* order.remove(id)
        yield* remove(
          roles,
          ({ branch_id, role }) => `${branch_id} ${role}`,
          ({ expires_at, revoked_at }) => past(expires_at, revoked_at)
        )
        yield* remove(
          keys,
          ({ key }) => key.id,
          ({ key }) => past(key.expires_at, key.revoked_at)
        )
        yield* remove(
          invitations,
          ({ id }) => id,
          ({ accepted_at, expires_at, revoked_at }) => past(accepted_at, expires_at, revoked_at)
        )
        const work = yield* operations.all
        yield* remove(
          endpoints,
          ({ endpoint }) => endpoint.id,
          ({ deleted_at, endpoint }) => past(deleted_at) && !work.some((it) => it.endpoint_id === endpoint.id)
        )
        const used = {
          branches: new Set<string | null>([
            ...work.flatMap((it) => [it.branch_id, it.copies]),
            ...(yield* roles.all).map((it) => it.branch_id),
            ...(yield* endpoints.all).map((it) => it.endpoint.branch_id),
            ...(yield* branches.all).map((it) => it.branch.parent_id),
            ...(yield* keys.all).map(({ key: { scope } }) => (scope.type === "branch" ? scope.branch_id : null))
          ]),
          projects: new Set<string | null>(work.map((it) => it.project_id))
        }
        yield* remove(
          branches,
          ({ branch }) => branch.id,
          ({ branch, deleted_at }) => past(deleted_at) && !used.branches.has(branch.id)
        )
        for (const { branch } of yield* branches.all) used.projects.add(branch.project_id)
        for (const { key } of yield* keys.all)
          if (key.scope.type !== "organization") used.projects.add(key.scope.project_id)
        yield* remove(
          projects,
          ({ project }) => project.id,
          ({ deleted_at, project }) => past(deleted_at) && !used.projects.has(project.id)
        )
        return purged
      })

      return EndedRecordStore.of({ purge: (before, limit) => transaction(purge(before, limit)) })
    })
  )
}
