/** The settings of a project: its name, its note, and its end. */
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
  /** The values of the form that is shown again. */
  readonly draft?: { readonly name: string; readonly note: string }
  readonly errors?: { readonly name?: string; readonly note?: string; readonly form?: string }
}

export const ProjectSettingsPage = (props: ProjectSettingsPageProps) => {
  const { draft, errors, frame, project } = props
  const here = pathOf(props)
  return (
    <Page {...inSection(props, "settings")} title="Settings" errors={summaryOf(errors)} narrow>
      <Card id="project" title="Project">
        <Facts
          items={[
            ["Region", project.region_id],
            ["Note", project.note ?? "–"],
            ["Created", <Ago at={project.created_at} />],
            ["Changed", <Ago at={project.updated_at} />]
          ]}
        />
        <CopyField id="project-id" label="Copy the project's ID" text={project.id} title="ID" wide />
        <p class="note">
          How much the organization has and may have is in{" "}
          <a href={`/orgs/${frame.organization.id}/settings`}>its settings</a>.
        </p>
      </Card>
      {mayChange(frame) ? (
        <Card id="rename" title="Name and note">
          <form method="post" action={`${here}/rename`} class="form">
            <Field
              name="name"
              label="Name"
              value={draft?.name ?? project.name}
              required
              maxLength={128}
              hint="Only people see it. Programs use the ID and the hosts, which stay."
              error={errors?.name}
            />
            <Field
              name="note"
              label="Note"
              value={draft?.note ?? project.note ?? ""}
              maxLength={500}
              hint="What the project is for. It can be empty."
              error={errors?.note}
            />
            <div class="actions">
              <button type="submit" class="primary">
                Save
              </button>
            </div>
          </form>
        </Card>
      ) : (
        <p class="soft">Your role in this organization does not let you change projects.</p>
      )}
      {frame.permissions.includes("delete_projects") ? (
        <Card id="end" title="Delete">
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
