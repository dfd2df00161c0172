/**
 * Port: the clients that allowlists refused. The contract that every adapter must meet is executable:
 * `testing/allowlist/ClientRefusalStore.ts`.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { ProjectId } from "../../Ids.ts"
import { type Page, type PageRequest, pageBy } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { BranchRole } from "../projects/BranchRole.ts"
import { isOwned, type RoleOwner } from "../projects/BranchRoleStore.ts"
import type { StoredEndpoint } from "../projects/memoryActivity.ts"
import { ClientRefusal, type RefusalNoted, refusalLimits } from "./ClientRefusal.ts"

/** The dated observations of one report. No two have the same address and endpoint. */
export interface NotedRefusals {
  readonly proxy_id: string
  readonly sequence: number
  readonly refusals: ReadonlyArray<RefusalNoted>
}

export class ClientRefusalStore extends Context.Service<
  ClientRefusalStore,
  {
    /**
     * Adds the observations to the records, in one commit. A record has the sum of the counts, the first and the last
     * instant, and the role and the reason of the last refusal. Observations at endpoints that do not exist are left
     * out. The store keeps the `refusalLimits.kept` records of a project with the highest positions, also when proxies
     * report at the same time. A report changes nothing if its proxy has already sent one with the same number or a
     * higher one.
     */
    readonly note: (report: NotedRefusals, now: DateTime.Utc) => Effect.Effect<void, StorageError>

    /**
     * The records of a project, newest position first; the cursor is a position. `role` is `null` unless the branch of
     * the record has this role, and the owner minted it; `owner` null: any role of the branch.
     */
    readonly list: (
      project: ProjectId,
      owner: RoleOwner | null,
      page: PageRequest
    ) => Effect.Effect<Page<ClientRefusal>, StorageError>

    /**
     * Removes the records whose last refusal is before the instant, and the report numbers of proxies silent since
     * then.
     */
    readonly purge: (before: DateTime.Utc) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/allowlist/ClientRefusalStore") {
  static readonly layerMemory: Layer.Layer<ClientRefusalStore, never, MemoryStorage> = Layer.effect(
    ClientRefusalStore,
    Effect.gen(function* () {
      const { table, transaction } = yield* MemoryStorage
      const refusals = table<Stored>("client_refusal")
      const reports = table<Reported>("refusal_report")
      // As the stores of these tables keep them.
      const endpoints = table<StoredEndpoint>("endpoint")
      const roles = table<BranchRole>("branch_role")

      const add = Effect.fnUntraced(function* (noted: RefusalNoted) {
        const found = Option.getOrUndefined(yield* endpoints.get(noted.endpoint_id))
        if (found === undefined || found.deleted_at !== null) return []
        const { branch_id, project_id } = found.endpoint
        const { position, ...observed } = noted
        const added: Stored = { project_id, position, refusal: new ClientRefusal({ ...observed, branch_id }) }
        const former = Option.getOrUndefined(yield* refusals.get(keyOf(added)))
        yield* refusals.put(keyOf(added), former === undefined ? added : joined(former, added))
        return [project_id]
      })

      const trim = (project: ProjectId) =>
        refusals.modify((rows) => [
          undefined,
          rows
            .filter((row) => row.project_id === project)
            .toSorted(newestFirst)
            .slice(refusalLimits.kept)
            .map((row) => [keyOf(row), undefined])
        ])

      return ClientRefusalStore.of({
        note: ({ proxy_id, refusals: noted, sequence }, reported_at) =>
          transaction(
            Effect.gen(function* () {
              const last = Option.getOrUndefined(yield* reports.get(proxy_id))
              if (last !== undefined && last.sequence >= sequence) return
              yield* reports.put(proxy_id, { proxy_id, sequence, reported_at })
              const touched = yield* Effect.forEach(noted, add)
              yield* Effect.forEach(new Set(touched.flat()), trim, { discard: true })
            })
          ),
        list: Effect.fnUntraced(function* (project, owner, page) {
          const known = new Set(
            (yield* roles.all).filter((row) => isOwned(row, owner)).map((row) => `${row.branch_id} ${row.role}`)
          )
          const rows = (yield* refusals.all)
            .filter((row) => row.project_id === project && (page.after === null || row.position < page.after))
            .toSorted(newestFirst)
          const found = pageBy(rows, page, ({ position }) => position)
          return {
            ...found,
            items: found.items.map(({ refusal }) =>
              known.has(`${refusal.branch_id} ${refusal.role}`)
                ? refusal
                : new ClientRefusal({ ...refusal, role: null })
            )
          }
        }),
        purge: (before) =>
          transaction(
            Effect.gen(function* () {
              yield* refusals.modify((rows) => [
                undefined,
                rows
                  .filter(({ refusal }) => DateTime.isLessThan(refusal.last_at, before))
                  .map((row) => [keyOf(row), undefined])
              ])
              yield* reports.modify((rows) => [
                undefined,
                rows
                  .filter(({ reported_at }) => DateTime.isLessThan(reported_at, before))
                  .map((row) => [row.proxy_id, undefined])
              ])
            })
          )
      })
    })
  )
}

interface Stored {
  readonly project_id: ProjectId
  readonly position: string
  readonly refusal: ClientRefusal
}

interface Reported {
  readonly proxy_id: string
  readonly sequence: number
  readonly reported_at: DateTime.Utc
}

const keyOf = ({ refusal }: Stored) => `${refusal.endpoint_id} ${refusal.address}`

const newestFirst = (a: Stored, b: Stored) => (a.position < b.position ? 1 : -1)

const joined = (former: Stored, added: Stored): Stored => {
  const last = added.position > former.position ? added : former
  return {
    ...last,
    refusal: new ClientRefusal({
      ...last.refusal,
      count: former.refusal.count + added.refusal.count,
      first_at: DateTime.min(former.refusal.first_at, added.refusal.first_at)
    })
  }
}
