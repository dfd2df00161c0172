/** The projects of an organization: which are up, where they are, and when they were used last. */
import { DateTime } from "effect"
import { Card } from "../components/Card.tsx"
import { LiveRegion } from "../components/LiveRegion.tsx"
import { Pager } from "../components/Pager.tsx"
import { State } from "../components/State.tsx"
import { Table } from "../components/Table.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { type EndpointShown, endpointState, type ProjectShown } from "./records.ts"

export interface ProjectRow {
  readonly project: ProjectShown
  /** `null`: they could not be read, as of a project that is being deleted. */
  readonly endpoints: ReadonlyArray<EndpointShown> | null
}

export interface ProjectsPageProps {
  readonly frame: Frame
  readonly rows: ReadonlyArray<ProjectRow>
  /** The cursor of the next page, if there is one. */
  readonly next_cursor: string | null
  readonly notice?: string | undefined
}

/** The state of the endpoint that clients of the default branch connect to; without one, of any other. */
export const projectState = ({ endpoints, project }: ProjectRow): ReturnType<typeof endpointState> => {
  const all = endpoints ?? []
  const ofDefault = all.filter(({ branch_id }) => branch_id === project.default_branch_id)
  const main = ofDefault.find(({ type }) => type === "read_write") ?? ofDefault[0] ?? all[0]
  if (main !== undefined) return endpointState(main)
  return endpoints === null ? { word: "unknown", tone: "idle" } : { word: "no endpoint", tone: "idle" }
}

/** When a compute of the project was last in use; `null`: none has run. */
export const lastActivity = ({ endpoints }: ProjectRow): DateTime.Utc | null =>
  (endpoints ?? [])
    .flatMap(({ last_active_at, started_at, suspended_at }) => [last_active_at, started_at, suspended_at])
    .reduce<DateTime.Utc | null>(
      (newest, at) => (at !== null && (newest === null || DateTime.isGreaterThan(at, newest)) ? at : newest),
      null
    )

export const ProjectsPage = ({ frame, next_cursor, notice, rows }: ProjectsPageProps) => {
  const here = `/orgs/${frame.organization.id}/projects`
  const mayCreate = frame.permissions.includes("create_projects")
  return (
    <Page
      title="Projects"
      frame={frame}
      section="projects"
      notice={notice}
      lead={<LiveRegion src="/api/events" page={here} regions={["projects-list"]} />}
      actions={
        mayCreate && rows.length > 0 ? (
          <a class="button primary" href={`${here}/new`}>
            New project
          </a>
        ) : null
      }
    >
      <div id="projects-list">
        {rows.length === 0 ? (
          <FirstSteps
            home={`/orgs/${frame.organization.id}`}
            mayCreate={mayCreate}
            mayInvite={frame.permissions.includes("manage_invitations")}
          />
        ) : (
          <Card id="projects" title={`Projects of ${frame.organization.name}`}>
            <Table
              label={`Projects of ${frame.organization.name}`}
              columns={[
                { head: "Name" },
                { head: "State", phone: "aside" },
                { head: "Region" },
                { head: "Last activity" },
                { head: "Created" }
              ]}
              rows={rows.map((row) => {
                const { created_at, id, name, region_id } = row.project
                const { tone, word } = projectState(row)
                const active = lastActivity(row)
                return {
                  key: id,
                  cells: [
                    <a href={`${here}/${id}`}>{name}</a>,
                    <State tone={tone}>{word}</State>,
                    region_id,
                    active === null ? <span class="faint">never used</span> : <Ago at={active} />,
                    <Ago at={created_at} />
                  ]
                }
              })}
            />
            <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
          </Card>
        )}
      </div>
    </Page>
  )
}
