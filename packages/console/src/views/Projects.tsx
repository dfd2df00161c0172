/** The projects of an organization: which are up, where they are, how large, and when they were used last. */
import { Card } from "../components/Card.tsx"
import { Empty } from "../components/Empty.tsx"
import { Pager } from "../components/Pager.tsx"
import { Size } from "../components/Size.tsx"
import { State } from "../components/State.tsx"
import { Table } from "../components/Table.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { queryOf } from "./queryOf.ts"
import { endpointState, type ProjectShown } from "./records.ts"

export interface ProjectsPageProps {
  readonly frame: Frame
  /** With their endpoints, and the size of their branches. */
  readonly projects: ReadonlyArray<ProjectShown>
  /** The cursor of the next page, if there is one. */
  readonly next_cursor: string | null
  /** A part of the names that are shown; `""`: all are. */
  readonly name: string
  /** A sentence about projects that a search left out. */
  readonly left_out: string | null
  readonly notice?: string | undefined
}

/** The state of the project's endpoint. An API of an older version leaves the endpoint out. */
const projectState = ({ endpoint }: ProjectShown): ReturnType<typeof endpointState> => {
  if (endpoint === undefined) return { word: "unknown", tone: "idle" }
  return endpoint === null ? { word: "no endpoint", tone: "idle" } : endpointState(endpoint)
}

/** An API of an older version counts nothing. */
const countOf = ({ branches_count }: ProjectShown) => {
  if (branches_count === undefined) return <span class="faint">unknown</span>
  return branches_count < mostCounted ? `${branches_count}` : `${mostCounted} or more`
}

/** The API counts no more (docs/design/api.md A30). */
const mostCounted = 100

const Find = ({ here, name }: { readonly here: string; readonly name: string }) => (
  <form
    method="get"
    action={here}
    class="pick filter"
    id="projects-find"
    aria-label="Find projects"
    data-shows="projects-find projects-list live"
    autocomplete="off"
  >
    <label class="hidden" htmlFor="project-name">
      Part of the name
    </label>
    <input type="search" id="project-name" name="name" value={name} placeholder="Part of the name" maxLength={128} />
    <button type="submit">Search</button>
    {name === "" ? null : <a href={here}>Show all</a>}
  </form>
)

export const ProjectsPage = ({ frame, left_out, name, next_cursor, notice, projects }: ProjectsPageProps) => {
  const here = `/orgs/${frame.organization.id}/projects`
  const mayCreate = frame.permissions.includes("create_projects")
  const none = projects.length === 0 && name === ""
  return (
    <Page
      title="Projects"
      frame={frame}
      section="projects"
      notice={notice}
      live={{ src: "/api/events", page: `${here}${queryOf({ name })}`, regions: ["projects-list"] }}
      actions={
        mayCreate && !none ? (
          <a class="button primary" href={`${here}/new`}>
            New project
          </a>
        ) : null
      }
    >
      {none ? null : <Find here={here} name={name} />}
      <div id="projects-list">
        {none ? (
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
                { head: "Created" },
                { head: "Branches", align: "end" },
                { head: "Size", align: "end" }
              ]}
              rows={projects.map((project) => {
                const { created_at, id, last_used_at = null, name, region_id, size_bytes = null } = project
                const { tone, word } = projectState(project)
                return {
                  key: id,
                  cells: [
                    <a href={`${here}/${id}`}>{name}</a>,
                    <State tone={tone}>{word}</State>,
                    region_id,
                    last_used_at === null ? <span class="faint">never used</span> : <Ago at={last_used_at} />,
                    <Ago at={created_at} />,
                    countOf(project),
                    <Size bytes={size_bytes} none="unknown" />
                  ]
                }
              })}
              empty={
                <Empty title="No project has such a name">
                  <p>
                    <a href={here}>Show all projects</a>
                  </p>
                </Empty>
              }
            />
            {left_out === null ? null : <p class="soft">{left_out}</p>}
            <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
          </Card>
        )}
      </div>
    </Page>
  )
}
