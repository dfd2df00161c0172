/** The list of an organization's projects with its activity, and the form for a new project. */
import { Activity } from "./Activity.tsx"
import { type Frame, Page } from "./Layout.tsx"
import { Command, Empty, Field, Notice, Time } from "./parts.tsx"
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
    <Page title="Projects" frame={frame} section="projects">
      <div class="heading">
        <h1>Projects</h1>
        {mayCreate ? (
          <a class="button primary" href={`${here}/new`}>
            New project
          </a>
        ) : null}
      </div>
      {notice === undefined ? null : <Notice>{notice}</Notice>}
      {projects.length === 0 ? (
        <Empty title="No projects yet">
          <p>A project is a Postgres database with branches, in one region.</p>
          <p>
            From the terminal: <Command>narthex project create my-app</Command>
          </p>
        </Empty>
      ) : (
        <div class="scroll">
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
                    <Time at={created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {next_cursor === null ? null : (
        <p>
          <a class="button" href={`${here}?cursor=${encodeURIComponent(next_cursor)}`}>
            Older projects
          </a>
        </p>
      )}
      <Activity
        src="/api/events"
        page={here}
        operations={[]}
        empty="Nothing has happened since you opened this page."
      />
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
  <Page title="New project" frame={frame} section="projects">
    <div class="narrow">
      <h1>New project</h1>
      {errors.form === undefined ? null : <Notice tone="bad">{errors.form}</Notice>}
      <form method="post" action={`/orgs/${frame.organization.id}/projects`} class="card">
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
        <p class="actions">
          <a class="button" href={`/orgs/${frame.organization.id}/projects`}>
            Cancel
          </a>
          <button type="submit" class="primary">
            Create project
          </button>
        </p>
      </form>
    </div>
  </Page>
)
