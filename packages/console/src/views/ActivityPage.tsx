/** The activity of an organization: its history in pages, newest first, and live on the first page. */
import { Card } from "../components/Card.tsx"
import { Empty } from "../components/Empty.tsx"
import { Filter } from "../components/Filter.tsx"
import { Pager } from "../components/Pager.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { Feed, type FeedItem } from "./Feed.tsx"
import { queryOf } from "./queryOf.ts"

export interface ActivityPageProps {
  readonly frame: Frame
  readonly items: ReadonlyArray<FeedItem>
  /** The choices of the filter. */
  readonly projects: ReadonlyArray<{ readonly id: string; readonly name: string }>
  /** The project of the filter; `""`: all. */
  readonly project: string
  /** Whether these are the newest events. */
  readonly newest: boolean
  readonly next_cursor: string | null
  /** Whether older events have been removed from the log. */
  readonly trimmed: boolean
}

export const ActivityPage = (props: ActivityPageProps) => {
  const { frame, items, newest, next_cursor, project, projects, trimmed } = props
  const path = `/orgs/${frame.organization.id}/activity`
  const here = `${path}${queryOf({ project })}`
  return (
    <Page
      title="Activity"
      frame={frame}
      section="activity"
      live={
        newest
          ? { src: project === "" ? "/api/events" : `/api/projects/${project}/events`, page: here, regions: ["feed"] }
          : null
      }
    >
      {projects.length < 2 ? null : (
        <form
          method="get"
          action={path}
          class="pick filter"
          data-shows="activity-filter activity live"
          id="activity-filter"
          autocomplete="off"
        >
          <Filter
            name="project"
            label="Project"
            choices={[
              { value: "", label: "All projects" },
              ...projects.map(({ id, name }) => ({ value: id, label: name }))
            ]}
            value={project}
          />
          <noscript>
            <button type="submit">Show</button>
          </noscript>
        </form>
      )}
      <Card id="activity">
        {items.length === 0 ? (
          <div id="feed">
            <Empty title="Nothing has happened yet">
              <p>Every change of a project, branch or endpoint is shown here, by whom and how long it took.</p>
            </Empty>
          </div>
        ) : (
          <Feed id="feed" items={items} />
        )}
        <Pager
          next={next_cursor === null ? null : `${path}${queryOf({ project, cursor: next_cursor })}`}
          previous={newest ? null : here}
        />
        {next_cursor === null && trimmed ? <p class="soft">Events before that are no longer kept.</p> : null}
      </Card>
    </Page>
  )
}
