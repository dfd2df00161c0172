/** The clients that allowlists refused. */
import {
  BranchRoleStore,
  ClientRefusal,
  ClientRefusalStore,
  EndpointStore,
  isOwned,
  ProjectId,
  pageBy,
  type RefusalNoted,
  refusalLimits
} from "@narthex/core"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { documents } from "../documents.ts"
import { Sqlite } from "../Sqlite.ts"

const Stored = Schema.Struct({ project_id: ProjectId, position: Schema.String, refusal: ClientRefusal })

const store = Effect.gen(function* () {
  const { run, transaction } = yield* Sqlite
  const endpoints = yield* EndpointStore
  const roles = yield* BranchRoleStore
  const refusals = yield* documents("client_refusal", Stored)
  const ofProject = "doc ->> 'project_id' = ?1"
  const newestFirst = "order by doc ->> 'position' desc"

  const add = Effect.fnUntraced(function* ({ position, ...noted }: RefusalNoted) {
    const endpoint = Option.getOrUndefined(yield* endpoints.findAnywhere(noted.endpoint_id))
    if (endpoint === undefined) return []
    const { branch_id, id, project_id } = endpoint
    const key = `${id} ${noted.address}`
    const added = { project_id, position, refusal: new ClientRefusal({ ...noted, branch_id }) }
    const former = Option.getOrElse(yield* refusals.get(key), () => undefined)
    if (former === undefined) yield* refusals.put(key, added)
    else {
      const last = added.position > former.position ? added : former
      const count = former.refusal.count + noted.count
      const first_at = DateTime.min(former.refusal.first_at, noted.first_at)
      yield* refusals.put(key, { ...last, refusal: new ClientRefusal({ ...last.refusal, count, first_at }) })
    }
    return [project_id]
  })

  /** The refusal with the role that it names, if the owner may see it. */
  const shown = Effect.fnUntraced(function* (
    { refusal }: typeof Stored.Type,
    owner: Parameters<ClientRefusalStore["Service"]["list"]>[1]
  ) {
    if (refusal.role === null) return refusal
    const role = yield* roles.find(refusal.branch_id, refusal.role)
    return Option.exists(role, (it) => isOwned(it, owner)) ? refusal : new ClientRefusal({ ...refusal, role: null })
  })

  return ClientRefusalStore.of({
    note: ({ proxy_id, refusals: noted, sequence }, now) =>
      transaction(
        Effect.gen(function* () {
          const newer = yield* run(
            `insert into refusal_report values (?1, ?2, ?3) on conflict do update set
               sequence = excluded.sequence, reported_at = excluded.reported_at where sequence < excluded.sequence`,
            ...[proxy_id, sequence, now.epochMilliseconds]
          )
          if (newer === 0) return
          const touched = yield* Effect.forEach(noted, add)
          for (const project of new Set(touched.flat()))
            yield* refusals.remove(
              `id in (select id from client_refusal where ${ofProject} ${newestFirst} limit -1 offset ?2)`,
              ...[project, refusalLimits.kept]
            )
        })
      ),
    list: (project, owner, page) =>
      transaction(
        Effect.gen(function* () {
          const rows = yield* refusals.where(
            `${ofProject} and (?2 is null or doc ->> 'position' < ?2) ${newestFirst} limit ?3`,
            ...[project, page.after, page.limit + 1]
          )
          const found = pageBy(rows, page, ({ position }) => position)
          return { ...found, items: yield* Effect.forEach(found.items, (row) => shown(row, owner)) }
        })
      ),
    purge: (before) =>
      transaction(
        Effect.gen(function* () {
          yield* refusals.remove("doc ->> '$.refusal.last_at' < ?1", DateTime.formatIso(before))
          yield* run("delete from refusal_report where reported_at < ?1", before.epochMilliseconds)
        })
      )
  })
})

/** Needs the stores of endpoints and roles: the record of a refusal has the branch of its endpoint. */
export const layerClientRefusals = Layer.effect(ClientRefusalStore, store)
