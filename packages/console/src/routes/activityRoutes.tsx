/** The activity of an organization (docs/design/console.md). */
import { type ProjectId, parseProjectId } from "@narthex/api"
import { Effect, Option } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { loadNames } from "../requests/loadNames.ts"
import { type Asked, inOrganizationReading } from "../requests/Visit.ts"
import { ActivityPage } from "../views/ActivityPage.tsx"
import { activityRows } from "../views/activityRows.ts"
import { page } from "../web/answer.tsx"

/** Events of a page. An operation has about three. */
const pageSize = 150

/** Newest first. A project that is gone has no history of its own: its events are in the organization's. */
const historyOf = (project_id: ProjectId | undefined, cursor: string | null) => {
  const query = { order: "desc" as const, limit: pageSize, ...(cursor === null ? {} : { cursor }) }
  return calling((api) =>
    project_id === undefined
      ? api.events.history({ query })
      : api.events.projectHistory({ params: { project_id }, query })
  )
}

const readActivity = Effect.fnUntraced(function* ({ param, query }: Asked) {
  const cursor = query.get("cursor")
  const project_id = Option.getOrUndefined(parseProjectId(query.get("project") ?? ""))
  const { complete, events, pagination } = yield* historyOf(project_id, cursor)
  const mentioned = events.flatMap((event) => (event.project_id === undefined ? [] : [event.project_id]))
  const names = yield* loadNames(param("org_id"), mentioned)
  const newest = cursor === null
  return {
    items: activityRows(events, names, { newest, withProject: project_id === undefined }),
    projects: [...names.projects].map(([id, name]) => ({ id, name })),
    project: project_id ?? "",
    newest,
    next_cursor: pagination.next_cursor,
    trimmed: !complete
  }
})

const activity = inOrganizationReading(readActivity, ({ frame }, shown) =>
  Effect.succeed(page(<ActivityPage frame={frame} {...shown} />))
)

export const activityRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/orgs/:org_id/activity", answer: activity }
]
