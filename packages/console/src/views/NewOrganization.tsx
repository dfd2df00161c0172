/** The form that creates a team organization. */
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Field } from "../components/Field.tsx"
import { HiddenFields } from "../components/HiddenFields.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { errorOf } from "./Members.tsx"

export interface NewOrganizationPageProps {
  readonly frame: Frame
  readonly name: string
  /** Makes a form that is sent twice create one organization. */
  readonly form_token: string
  readonly errors: ReadonlyArray<FieldError>
  readonly problem?: string | undefined
}

export const NewOrganizationPage = ({ errors, form_token, frame, name, problem }: NewOrganizationPageProps) => (
  <Page title="New organization" frame={frame} problem={problem} errors={errors} narrow>
    <Card id="new-organization">
      <form method="post" action="/orgs/new" class="stack slim">
        <HiddenFields fields={{ form_token, org_id: frame.organization.id }} />
        <Field
          name="name"
          label="Name"
          value={name}
          required
          maxLength={128}
          hint="Members see it. You can change it later."
          error={errorOf(errors, "name")}
        />
        <p class="soft">
          You become its owner. Projects, API keys and members belong to one organization; your own stays as it is.
        </p>
        <Actions>
          <button type="submit" class="primary">
            Create organization
          </button>
          <a class="button" href="/projects">
            Cancel
          </a>
        </Actions>
      </form>
    </Card>
  </Page>
)
