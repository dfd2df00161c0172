/** `BranchStore` on Postgres. */
import { Branch, type BranchId, BranchStore, type ProjectId, pageOf } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { exclusively } from "../database/exclusively.ts"
import { olderThan } from "../database/keyset.ts"
import { tableOf } from "../database/tableOf.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const branches = tableOf(database, "branch", Branch)
  const own = (operation: string, project: ProjectId, branch: BranchId, locking = "") =>
    branches.first(
      operation,
      `select * from narthex.branch where id = $1 and project_id = $2 and deleted_at is null ${locking}`,
      [branch, project]
    )

  return BranchStore.of({
    put: (branch) =>
      exclusively(
        database,
        `branch ${branch.project_id} ${branch.name}`,
        Effect.map(
          branches.write(
            "BranchStore.put",
            branch,
            `${branches.insertInto} ${branches.record("$1")}
             where not exists (
                 select 1 from narthex.branch other
                 where other.project_id = $2 and other.name = $3 and other.id <> $4 and other.deleted_at is null)
               or exists (select 1 from narthex.branch gone where gone.id = $4 and gone.deleted_at is not null)
             on conflict (id) do update ${branches.setExcluded} returning id`,
            [branch.project_id, branch.name, branch.id]
          ),
          (rows) => rows.length > 0
        )
      ),
    find: (project, branch) => own("BranchStore.find", project, branch),
    findAnywhere: (branch) =>
      branches.first("BranchStore.findAnywhere", "select * from narthex.branch where id = $1 and deleted_at is null", [
        branch
      ]),
    findRetained: (branch) =>
      branches.first("BranchStore.findRetained", "select * from narthex.branch where id = $1", [branch]),
    lock: (project, branch) => own("BranchStore.lock", project, branch, "for update"),
    markDeleted: (branch, now) =>
      Effect.asVoid(
        database.query(
          "BranchStore.markDeleted",
          "update narthex.branch set deleted_at = $2 where id = $1 and deleted_at is null",
          [branch, DateTime.toDateUtc(now)]
        )
      ),
    list: (project, only, page) =>
      Effect.map(
        branches.all(
          "BranchStore.list",
          `select * from narthex.branch
           where project_id = $1 and deleted_at is null and ($2::text is null or id = $2) and id < $3
           order by id desc limit $4`,
          [project, only, olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      ),
    hasChildren: (branch) =>
      Effect.map(
        database.query(
          "BranchStore.hasChildren",
          "select 1 from narthex.branch where parent_id = $1 and deleted_at is null limit 1",
          [branch]
        ),
        (rows) => rows.length > 0
      ),
    expired: (now, limit) =>
      branches.all(
        "BranchStore.expired",
        "select * from narthex.branch where expires_at <= $1 and deleted_at is null order by expires_at limit $2",
        [DateTime.toDateUtc(now), limit]
      )
  })
})

export const PostgresBranchStore = {
  layer: Layer.effect(BranchStore, make)
}
