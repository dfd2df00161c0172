/**
 * Port: projects. A deleted project is not found, but its row is retained until it is purged.
 */
import type { DateTime } from "effect"
import { Context, Effect, Layer, Option } from "effect"
import type { OrgId, ProjectId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { Project } from "./Project.ts"

interface Stored {
  readonly project: Project
  readonly deleted_at: DateTime.Utc | null
}

export class ProjectStore extends Context.Service<
  ProjectStore,
  {
    readonly insert: (project: Project) => Effect.Effect<void, StorageError>
    readonly find: (org: OrgId, project: ProjectId) => Effect.Effect<Option.Option<Project>, StorageError>
    /** As `find`, and locks the row until the end of the transaction. */
    readonly lock: (org: OrgId, project: ProjectId) => Effect.Effect<Option.Option<Project>, StorageError>
    /** As `lock`, but shared with other holders: no other transaction can lock the project or end it. */
    readonly hold: (org: OrgId, project: ProjectId) => Effect.Effect<Option.Option<Project>, StorageError>
    /** As `find` in any organization, for proxies and the system. */
    readonly findAnywhere: (project: ProjectId) => Effect.Effect<Option.Option<Project>, StorageError>
    /** As `findAnywhere`, and a deleted project too while its row is retained. */
    readonly findRetained: (project: ProjectId) => Effect.Effect<Option.Option<Project>, StorageError>
    /** Changes nothing when the project is deleted. */
    readonly update: (project: Project) => Effect.Effect<void, StorageError>
    readonly markDeleted: (project: ProjectId, now: DateTime.Utc) => Effect.Effect<void, StorageError>
    /** Newest first; `only` limits the list to that project. */
    readonly list: (org: OrgId, only: ProjectId | null, page: PageRequest) => Effect.Effect<Page<Project>, StorageError>
  }
>()("@narthex/core/records/projects/ProjectStore") {
  static readonly layerMemory: Layer.Layer<ProjectStore, never, MemoryStorage> = Layer.effect(
    ProjectStore,
    Effect.gen(function* () {
      const projects = (yield* MemoryStorage).table<Stored>("project")
      const findAnywhere = (id: ProjectId) =>
        Effect.map(projects.get(id), (row) =>
          Option.map(
            Option.filter(row, ({ deleted_at }) => deleted_at === null),
            ({ project }) => project
          )
        )
      const find = (org: OrgId, id: ProjectId) =>
        Effect.map(
          findAnywhere(id),
          Option.filter((project) => project.org_id === org)
        )
      return ProjectStore.of({
        insert: (project) => projects.put(project.id, { project, deleted_at: null }),
        find,
        lock: find,
        hold: find,
        findAnywhere,
        findRetained: (id) =>
          Effect.map(
            projects.get(id),
            Option.map(({ project }) => project)
          ),
        update: (project) =>
          projects.modify((rows) => [
            undefined,
            rows
              .filter((row) => row.project.id === project.id && row.deleted_at === null)
              .map((row) => [project.id, { ...row, project }])
          ]),
        markDeleted: (id, now) =>
          projects.modify((rows) => [
            undefined,
            rows.filter(({ project }) => project.id === id).map((row) => [id, { ...row, deleted_at: now }])
          ]),
        list: (org, only, page) =>
          Effect.map(projects.all, (rows) =>
            pageOfAll(
              rows
                .filter(
                  ({ deleted_at, project }) =>
                    deleted_at === null && project.org_id === org && (only === null || project.id === only)
                )
                .map(({ project }) => project),
              page
            )
          )
      })
    })
  )
}
