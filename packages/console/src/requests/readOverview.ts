/** Reads a project with the parts of it that a page shows, in one call (docs/design/api.md A29). */
import type { ProjectId, ProjectOverview } from "@narthex/api"
import { Effect } from "effect"
import { ApiUnreachable, calling } from "../api/ApiRefusal.ts"

export type ProjectPart = Exclude<keyof ProjectOverview, "project">

/** A project and these parts of it. */
export type Overview<P extends ProjectPart> = ProjectOverview & Required<Pick<ProjectOverview, P>>

/**
 * A part that the API leaves out although it was asked for is no answer.
 *
 * Pitfall: showing such a part as empty. An allowlist without rules admits every address.
 */
export const readOverview = <const P extends ProjectPart>(
  params: { readonly project_id: ProjectId },
  include: ReadonlyArray<P>
) =>
  Effect.flatMap(
    calling((api) => api.projects.overview({ params, query: include.length === 0 ? {} : { include } })),
    (answer) => {
      const missing = include.filter((part) => answer[part] === undefined)
      return missing.length === 0
        ? Effect.succeed(answer as Overview<P>) // each part is there
        : Effect.fail(new ApiUnreachable({ reason: new Error(`The API left out ${missing.join(", ")}.`) }))
    }
  )
