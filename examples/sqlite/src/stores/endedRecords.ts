/** Purges records that ended, each after everything that refers to it. */
import { EndedRecordStore } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Sqlite } from "../Sqlite.ts"
import { open } from "./operations.ts"

const before = (...members: ReadonlyArray<string>) =>
  `(${members.map((member) => `ifnull(doc ->> '${member}' < ?1, false)`).join(" or ")})`

/** The keys in a member of all rows of a table. */
const named = (table: string, member: string) =>
  `id not in (select doc ->> '${member}' from ${table} where doc ->> '${member}' is not null)`

/** In this order: what refers to others goes before them. */
const ended: ReadonlyArray<readonly [table: string, condition: string]> = [
  ["branch_role", before("expires_at", "revoked_at")],
  ["api_key", before("$.key.expires_at", "$.key.revoked_at")],
  ["invitation", before("accepted_at", "expires_at", "revoked_at")],
  ["endpoint", `${before("deleted_at")} and ${named("operation", "endpoint_id")}`],
  [
    "branch",
    [
      before("deleted_at"),
      named("operation", "branch_id"),
      named("operation", "copies"),
      named("branch_role", "branch_id"),
      named("endpoint", "$.endpoint.branch_id"),
      named("branch", "$.branch.parent_id"),
      named("api_key", "$.key.scope.branch_id")
    ].join(" and ")
  ],
  [
    "project",
    [
      before("deleted_at"),
      named("operation", "project_id"),
      named("branch", "$.branch.project_id"),
      named("api_key", "$.key.scope.project_id")
    ].join(" and ")
  ]
]

const endedRecords = Effect.map(Sqlite, ({ run, transaction }) =>
  EndedRecordStore.of({
    purge: ({ operations, records }, limit) =>
      transaction(
        Effect.gen(function* () {
          const remove = (table: string, condition: string, instant: DateTime.Utc) =>
            run(
              `delete from ${table} where id in (select id from ${table} where ${condition} limit ?2)`,
              DateTime.formatIso(instant),
              limit
            )
          let purged = yield* remove("operation", `not ${open} and ${before("finished_at")}`, operations)
          for (const [table, condition] of ended) purged += yield* remove(table, condition, records)
          yield* run("delete from api_key_secret where key_id not in (select id from api_key)")
          return purged
        })
      )
  })
)

export const layerEndedRecords = Layer.effect(EndedRecordStore, endedRecords)
