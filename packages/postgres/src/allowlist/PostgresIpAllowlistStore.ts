/**
 * `IpAllowlistStore` on Postgres. Each change locks the row of the version, so changes of one list run one after
 * another.
 */
import { IpAllowlistStore, IpRule, ProjectId } from "@narthex/core"
import { Effect, Layer, Option, Result, Schema } from "effect"
import { Database } from "../database/Database.ts"
import { reading, tableOf } from "../database/tableOf.ts"

const StoredList = Schema.Struct({ project_id: ProjectId, version: Schema.Int, rules: Schema.Array(IpRule) })

const make = Effect.gen(function* () {
  const database = yield* Database
  const { query, transaction } = database
  const rules = tableOf(database, "ip_rule", IpRule)
  const lists = reading(database, StoredList)

  const all = (project: ProjectId) =>
    rules.all("IpAllowlistStore.all", "select * from narthex.ip_rule where project_id = $1 order by position", [
      project
    ])

  return IpAllowlistStore.of({
    all,
    lists: (projects) =>
      lists.all(
        "IpAllowlistStore.lists",
        `select it.project_id, coalesce(list.version, 0) as version, (
           select coalesce(jsonb_agg(to_jsonb(rule) order by rule.position), '[]')
           from narthex.ip_rule rule where rule.project_id = it.project_id) as rules
         from unnest($1::text[]) with ordinality as it(project_id, n)
         left join narthex.ip_allowlist list on list.project_id = it.project_id order by it.n`,
        [projects]
      ),
    lock: (project) =>
      transaction(
        Effect.andThen(
          query(
            "IpAllowlistStore.lock",
            `insert into narthex.ip_allowlist as list (project_id, version) values ($1, 0)
             on conflict (project_id) do update set version = list.version`,
            [project]
          ),
          all(project)
        )
      ),
    change: (project, decide) =>
      transaction(
        // A failure inside would end a transaction around this one, also where a refusal is caught.
        Effect.gen(function* () {
          const [row] = yield* query<{ readonly version: number }>(
            "IpAllowlistStore.change",
            `insert into narthex.ip_allowlist as list (project_id, version) values ($1, 1)
             on conflict (project_id) do update set version = list.version + 1 returning version`,
            [project]
          )
          const decided = decide(yield* all(project))
          if (Result.isFailure(decided)) {
            const undo = "update narthex.ip_allowlist set version = version - 1 where project_id = $1"
            yield* query("IpAllowlistStore.change", undo, [project])
            return Result.fail(decided.failure)
          }
          const edit = decided.success
          if (edit.removed.length > 0) {
            const gone = "delete from narthex.ip_rule where project_id = $1 and cidr = any($2)"
            yield* query("IpAllowlistStore.change", gone, [project, edit.removed])
          }
          yield* Option.match(edit.put, {
            onNone: () => Effect.void,
            onSome: (rule) =>
              rules.write(
                "IpAllowlistStore.change",
                rule,
                `insert into narthex.ip_rule (project_id, cidr, label, created_at, created_by, expires_at)
                 select $2, it.cidr, it.label, it.created_at, it.created_by, it.expires_at
                 from jsonb_populate_record(null::narthex.ip_rule, $1) as it
                 on conflict (project_id, cidr) do update set label = excluded.label, created_at = excluded.created_at,
                   created_by = excluded.created_by, expires_at = excluded.expires_at, position = default`,
                [project]
              )
          })
          return Result.succeed({ edit, version: row?.version ?? 0 })
        })
      ).pipe(Effect.flatMap(Effect.fromResult))
  })
})

export const PostgresIpAllowlistStore = {
  layer: Layer.effect(IpAllowlistStore, make)
}
