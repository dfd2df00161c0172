/** The projects of an organization: which are up, where they are, and when they were used last. */
import { Card } from "../components/Card.tsx"
import { Pager } from "../components/Pager.tsx"
import { State } from "../components/State.tsx"
import { Table } from "../components/Table.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { endpointState, type ProjectShown } from "./records.ts"

export interface ProjectsPageProps {
  readonly frame: Frame
  /** With their endpoints. */
  readonly projects: ReadonlyArray<ProjectShown>
  /** The cursor of the next page, if there is one. */
  readonly next_cursor: string | null
  readonly notice?: string | undefined
}

/** The state of the project's endpoint. An API of an older version leaves the endpoint out. */
const projectState = ({ endpoint }: ProjectShown): ReturnType<typeof endpointState> => {
  if (endpoint === undefined) return { word: "unknown", tone: "idle" }
  return endpoint === null ? { word: "no endpoint", tone: "idle" } : endpointState(endpoint)
}

export const ProjectsPage = ({ frame, next_cursor, notice, projects }: ProjectsPageProps) => {
  const here = `/orgs/${frame.organization.id}/projects`
  const mayCreate = frame.permissions.includes("create_projects")
  return (
    <Page
      title="Projects"
      frame={frame}
      section="projects"
      notice={notice}
      live={{ src: "/api/events", page: here, regions: ["projects-list"] }}
      actions={
        mayCreate && projects.length > 0 ? (
          <a class="button primary" href={`${here}/new`}>
            New project
          </a>
        ) : null
      }
    >
      <div id="projects-list">
        {projects.length === 0 ? (
          <FirstSteps
            home={`/orgs/${frame.organization.id}`}
            mayCreate={mayCreate}
            mayInvite={frame.permissions.includes("manage_invitations")}
          />
        ) : (
          <Card id="projects">
            <Table
              label={`Projects of ${frame.organization.name}`}
              columns={[
                { head: "Name" },
                { head: "State", phone: "aside" },
                { head: "Region" },
                { head: "Last activity" },
                { head: "Created" }
              ]}
              rows={projects.map((project) => {
                const { created_at, id, last_used_at = null, name, region_id } = project
                const { tone, word } = projectState(project)
                return {
                  key: id,
                  cells: [
                    <a href={`${here}/${id}`}>{name}</a>,
                    <State tone={tone}>{word}</State>,
                    region_id,
                    last_used_at === null ? <span class="faint">never used</span> : <Ago at={last_used_at} />,
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
