/**
 * `IpAllowlistStore` on Postgres. Each change locks the row of the version, so changes of one list run one after
 * another.
 */
import { IpAllowlistStore, IpRule, ProjectId, type StorageError } from "@narthex/core"
import { DateTime, Effect, Layer, Schema } from "effect"
import { Database } from "../database/Database.ts"
import { reading, tableOf } from "../database/tableOf.ts"

const StoredList = Schema.Struct({ project_id: ProjectId, version: Schema.Int, rules: Schema.Array(IpRule) })

const make = Effect.gen(function* () {
  const database = yield* Database
  const { query, transaction } = database
  const rules = tableOf(database, "ip_rule", IpRule)
  const lists = reading(database, StoredList)

  const all = (project: ProjectId) =>
    rules.all("IpAllowlistStore.all", "select * from ip_rule where project_id = $1 order by position", [project])

  /** Runs one change: increments the version, then runs the step while its row is locked. */
  const change = <A>(project: ProjectId, step: Effect.Effect<A, StorageError>) =>
    transaction(
      Effect.andThen(
        query(
          "IpAllowlistStore.change",
          `insert into ip_allowlist as list (project_id, version) values ($1, 1)
           on conflict (project_id) do update set version = list.version + 1`,
          [project]
        ),
        step
      )
    )

  return IpAllowlistStore.of({
    all,
    lists: (projects) =>
      lists.all(
        "IpAllowlistStore.lists",
        `select it.project_id, coalesce(list.version, 0) as version, (
           select coalesce(jsonb_agg(to_jsonb(rule) order by rule.position), '[]')
           from ip_rule rule where rule.project_id = it.project_id) as rules
         from unnest($1::text[]) with ordinality as it(project_id, n)
         left join ip_allowlist list on list.project_id = it.project_id order by it.n`,
        [projects]
      ),
    lock: (project) =>
      transaction(
        Effect.andThen(
          query(
            "IpAllowlistStore.lock",
            `insert into ip_allowlist as list (project_id, version) values ($1, 0)
             on conflict (project_id) do update set version = list.version`,
            [project]
          ),
          all(project)
        )
      ),
    put: (project, rule) =>
      change(
        project,
        Effect.gen(function* () {
          const former = yield* rules.first(
            "IpAllowlistStore.put",
            "delete from ip_rule where project_id = $1 and cidr = $2 returning *",
            [project, rule.cidr]
          )
          yield* rules.write(
            "IpAllowlistStore.put",
            rule,
            `insert into ip_rule (project_id, cidr, label, created_at, created_by, expires_at)
             select $2, it.cidr, it.label, it.created_at, it.created_by, it.expires_at
             from jsonb_populate_record(null::ip_rule, $1) as it`,
            [project]
          )
          return former
        })
      ),
    remove: (project, cidr) =>
      change(
        project,
        Effect.map(
          query("IpAllowlistStore.remove", "delete from ip_rule where project_id = $1 and cidr = $2 returning cidr", [
            project,
            cidr
          ]),
          (rows) => rows.length > 0
        )
      ),
    purgeLapsed: (project, now) =>
      Effect.asVoid(
        query("IpAllowlistStore.purgeLapsed", "delete from ip_rule where project_id = $1 and expires_at <= $2", [
          project,
          DateTime.toDateUtc(now)
        ])
      ),
    clear: (project) =>
      change(
        project,
        Effect.asVoid(query("IpAllowlistStore.clear", "delete from ip_rule where project_id = $1", [project]))
      ),
    version: (project) =>
      Effect.map(
        query<{ readonly version: number }>(
          "IpAllowlistStore.version",
          "select version from ip_allowlist where project_id = $1",
          [project]
        ),
        (rows) => rows[0]?.version ?? 0
      )
  })
})

export const PostgresIpAllowlistStore = {
  layer: Layer.effect(IpAllowlistStore, make)
}
