/** The settings of a project: its name, and its end. */
import { Card } from "../../components/Card.tsx"
import { CopyField } from "../../components/CopyField.tsx"
import { Dialog } from "../../components/Dialog.tsx"
import { summaryOf } from "../../components/ErrorSummary.tsx"
import { Facts } from "../../components/Facts.tsx"
import { Field } from "../../components/Field.tsx"
import { Ago } from "../../components/Times.tsx"
import { Page } from "../../shell/Page.tsx"
import { inSection, mayChange, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface ProjectSettingsPageProps extends ProjectPageProps {
  /** The name of the form that is shown again. */
  readonly draft?: string
  readonly errors?: { readonly name?: string; readonly form?: string }
}

export const ProjectSettingsPage = (props: ProjectSettingsPageProps) => {
  const { draft, errors, frame, project } = props
  const here = pathOf(props)
  return (
    <Page {...inSection(props, "settings")} title="Settings" errors={summaryOf(errors)} narrow>
      <Card id="project">
        <Facts
          items={[
            ["Region", project.region_id],
            ["Created", <Ago at={project.created_at} />],
            ["Changed", <Ago at={project.updated_at} />]
          ]}
        />
        <CopyField id="project-id" label="Copy the project's ID" text={project.id} title="ID" wide />
        <p class="note">
          See usage and quotas in the <a href={`/orgs/${frame.organization.id}/settings`}>organization settings</a>.
        </p>
      </Card>
      {mayChange(frame) ? (
        <Card id="rename">
          <form method="post" action={`${here}/rename`} class="form">
            <Field
              name="name"
              label="Name"
              value={draft ?? project.name}
              required
              maxLength={128}
              hint="Only people see it. Programs use the ID and the hosts, which stay."
              error={errors?.name}
            />
            <div class="actions">
              <button type="submit" class="primary">
                Rename
              </button>
            </div>
          </form>
        </Card>
      ) : (
        <p class="soft">Your role in this organization does not let you change projects.</p>
      )}
      {frame.permissions.includes("delete_projects") ? (
        <Card id="end">
          <div class="choice">
            <p>
              <b>Delete this project</b>
              <span class="under">
                All branches with their data, endpoints, credentials and rules. It cannot be undone.
              </span>
            </p>
            <Dialog
              id="delete-project"
              opener="Delete"
              openerLabel={`Delete ${project.name}`}
              title={`Delete ${project.name}?`}
              action={`${here}/delete`}
              confirm="Delete the project"
              typed={project.name}
            >
              <p>
                Every branch and its data are lost. Endpoints and credentials end at once, and so do the API keys that
                are limited to this project. This cannot be undone.
              </p>
            </Dialog>
          </div>
        </Card>
      ) : null}
    </Page>
  )
}
