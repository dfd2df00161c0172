/** The list of an organization's projects with its activity, and the form for a new project. */
import { Actions } from "../components/Actions.tsx"
import { summaryOf } from "../components/ErrorSummary.tsx"
import { Field } from "../components/Field.tsx"
import { LiveRegion } from "../components/LiveRegion.tsx"
import { Pager } from "../components/Pager.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { type ProjectShown, type RegionShown, regionLabel } from "./records.ts"

export interface ProjectsPageProps {
  readonly frame: Frame
  readonly projects: ReadonlyArray<ProjectShown>
  /** The cursor of the next page, if there is one. */
  readonly next_cursor: string | null
  readonly notice?: string | undefined
}

export const ProjectsPage = ({ frame, next_cursor, notice, projects }: ProjectsPageProps) => {
  const here = `/orgs/${frame.organization.id}/projects`
  const mayCreate = frame.permissions.includes("create_projects")
  return (
    <Page
      title="Projects"
      frame={frame}
      section="projects"
      actions={
        mayCreate && projects.length > 0 ? (
          <a class="button primary" href={`${here}/new`}>
            New project
          </a>
        ) : null
      }
      notice={notice}
    >
      {projects.length === 0 ? (
        <FirstSteps home={`/orgs/${frame.organization.id}`} mayCreate={mayCreate} />
      ) : (
        <div class="table" id="projects">
          <table>
            <caption class="hidden">Projects of {frame.organization.name}</caption>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Region</th>
                <th scope="col">ID</th>
                <th scope="col">Created</th>
              </tr>
            </thead>
            <tbody>
              {projects.map(({ created_at, id, name, region_id }) => (
                <tr key={id}>
                  <th scope="row">
                    <a href={`${here}/${id}`}>{name}</a>
                  </th>
                  <td>{region_id}</td>
                  <td>
                    <code>{id}</code>
                  </td>
                  <td>
                    <Ago at={created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
      <LiveRegion src="/api/events" page={here} regions={["projects"]} />
    </Page>
  )
}

export interface ProjectDraft {
  readonly name: string
  /** `""`: the API chooses the region. */
  readonly region: string
}

export interface NewProjectPageProps {
  readonly frame: Frame
  readonly regions: ReadonlyArray<RegionShown>
  readonly draft: ProjectDraft
  /** Makes a form that is sent twice create one project. */
  readonly form_token: string
  readonly errors?: { readonly name?: string | undefined; readonly region?: string | undefined; readonly form?: string }
}

export const NewProjectPage = ({ draft, errors = {}, form_token, frame, regions }: NewProjectPageProps) => (
  <Page title="New project" frame={frame} section="projects" errors={summaryOf(errors)} narrow>
    <form method="post" action={`/orgs/${frame.organization.id}/projects`} class="form">
      <input type="hidden" name="form_token" value={form_token} />
      <Field name="name" label="Name" value={draft.name} error={errors.name} required maxLength={128} />
      <Field
        name="region"
        label="Region"
        choices={[
          { value: "", label: "Choose automatically" },
          ...regions.map((region) => ({ value: region.region_id, label: regionLabel(region) }))
        ]}
        value={draft.region}
        hint="A project cannot change its region. Branches and endpoints are in the same region."
        error={errors.region}
      />
      <Actions>
        <button type="submit" class="primary">
          Create project
        </button>
        <a class="button" href={`/orgs/${frame.organization.id}/projects`}>
          Cancel
        </a>
      </Actions>
    </form>
  </Page>
)
