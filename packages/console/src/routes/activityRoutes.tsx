/** The activity of an organization (docs/design/console.md). */
import { type ProjectId, parseProjectId } from "@narthex/api"
import { Effect, Option } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { namesOf } from "../requests/loadNames.ts"
import { type Asked, inOrganizationReading } from "../requests/Visit.ts"
import { ActivityPage } from "../views/ActivityPage.tsx"
import { activityRows } from "../views/activityRows.ts"
import { page } from "../web/answer.tsx"

/** Events of a page. An operation has about three. */
const pageSize = 150

/** Newest first, with names. A deleted project has no history of its own: its events are in the organization's. */
const historyOf = (project_id: ProjectId | undefined, cursor: string | null) => {
  const place = cursor === null ? {} : { cursor }
  const query = { order: "desc" as const, limit: pageSize, include: ["names" as const], ...place }
  return calling((api) =>
    project_id === undefined
      ? api.events.history({ query })
      : api.events.projectHistory({ params: { project_id }, query })
  )
}

const readActivity = Effect.fnUntraced(function* ({ query }: Asked) {
  const cursor = query.get("cursor")
  const project_id = Option.getOrUndefined(parseProjectId(query.get("project") ?? ""))
  const { complete, events, names: found, pagination } = yield* historyOf(project_id, cursor)
  const names = namesOf(found)
  const newest = cursor === null
  const shown = {
    items: activityRows(events, names, { newest, withProject: project_id === undefined }),
    project: project_id ?? "",
    newest,
    next_cursor: pagination.next_cursor,
    trimmed: !complete
  }
  const mentioned = (found?.projects ?? []).filter(({ deleted }) => deleted !== true)
  return { shown, mentioned }
})

/** The filter has the newest projects, and those that the events mention and that are not deleted. */
const activity = inOrganizationReading(
  readActivity,
  ({ frame, projects }, { mentioned, shown }) => {
    const known = new Map([...projects, ...mentioned].map(({ id, name }) => [id, name]))
    const choices = [...known].map(([id, name]) => ({ id, name }))
    return Effect.succeed(page(<ActivityPage frame={frame} projects={choices} {...shown} />))
  },
  { projects: true }
)

export const activityRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/orgs/:org_id/activity", answer: activity }
]
