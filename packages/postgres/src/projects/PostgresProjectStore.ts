/** `ProjectStore` on Postgres. */
import { Project, ProjectStore, pageOf } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { olderThan } from "../database/keyset.ts"
import { reading, tableOf } from "../database/tableOf.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const projects = tableOf(database, "project", Project)
  const shown = reading(database, Project, { pipeline: "projects" })
  const own = "select * from narthex.project where id = $1 and org_id = $2 and deleted_at is null"

  return ProjectStore.of({
    insert: (project) =>
      Effect.asVoid(projects.write("ProjectStore.insert", project, `${projects.insertInto} ${projects.record("$1")}`)),
    find: (org, project) => shown.first("ProjectStore.find", own, [project, org]),
    lock: (org, project) => projects.first("ProjectStore.lock", `${own} for update`, [project, org]),
    hold: (org, project) => projects.first("ProjectStore.hold", `${own} for key share`, [project, org]),
    findAnywhere: (project) =>
      projects.first(
        "ProjectStore.findAnywhere",
        "select * from narthex.project where id = $1 and deleted_at is null",
        [project]
      ),
    findRetained: (project) =>
      projects.first("ProjectStore.findRetained", "select * from narthex.project where id = $1", [project]),
    update: (project) =>
      Effect.asVoid(
        projects.write(
          "ProjectStore.update",
          project,
          `update narthex.project ${projects.setTo("$1")} where id = $2 and deleted_at is null`,
          [project.id]
        )
      ),
    markDeleted: (project, now) =>
      Effect.asVoid(
        database.query(
          "ProjectStore.markDeleted",
          "update narthex.project set deleted_at = $2 where id = $1 and deleted_at is null",
          [project, DateTime.toDateUtc(now)]
        )
      ),
    list: (org, only, page) =>
      Effect.map(
        shown.all(
          "ProjectStore.list",
          `select * from narthex.project
           where org_id = $1 and deleted_at is null and ($2::text is null or id = $2) and id < $3
           order by id desc limit $4`,
          [org, only, olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      )
  })
})

export const PostgresProjectStore = {
  layer: Layer.effect(ProjectStore, make)
}
