/** The form for an endpoint. */

import type { OfferedSize } from "@narthex/api"
import { Actions } from "../../components/Actions.tsx"
import { Card } from "../../components/Card.tsx"
import { summaryOf } from "../../components/ErrorSummary.tsx"
import { Field } from "../../components/Field.tsx"
import { Page } from "../../shell/Page.tsx"
import type { BranchShown } from "../records.ts"
import { SizeField } from "../SizeField.tsx"
import { suspendTimeouts } from "./lifetimes.ts"
import { inSection, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface EndpointDraft {
  readonly branch: string
  readonly type: string
  /** Seconds. */
  readonly timeout: string
  /** `""`: the default. */
  readonly size: string
}

export interface NewEndpointPageProps extends ProjectPageProps {
  readonly branches: ReadonlyArray<BranchShown>
  readonly sizes: ReadonlyArray<OfferedSize>
  readonly draft: EndpointDraft
  readonly errors?: {
    readonly branch?: string | undefined
    readonly size?: string | undefined
    readonly form?: string | undefined
  }
  readonly form_token: string
}

export const NewEndpointPage = (props: NewEndpointPageProps) => {
  const { branches, draft, errors = {}, form_token, sizes } = props
  const here = pathOf(props)
  return (
    <Page {...inSection(props, "endpoints")} title="New endpoint" errors={summaryOf(errors)} narrow>
      <Card id="endpoint">
        <form method="post" action={`${here}/endpoints`} class="form">
          <input type="hidden" name="form_token" value={form_token} />
          <Field
            name="branch"
            label="Branch"
            choices={branches.map(({ id, name }) => ({ value: id, label: name }))}
            value={draft.branch}
            error={errors.branch}
          />
          <Field
            name="type"
            label="Access"
            choices={[
              { value: "read_write", label: "read and write" },
              { value: "read_only", label: "read only" }
            ]}
            value={draft.type}
            hint="A branch has one endpoint that writes. Through a read-only one nothing can be changed, whatever the password."
          />
          <SizeField sizes={sizes} value={draft.size} error={errors.size} />
          <Field
            name="timeout"
            label="Suspends after"
            choices={suspendTimeouts}
            value={draft.timeout}
            hint="The compute stops after this long without a query. The next connection starts it."
          />
          <Actions>
            <button type="submit" class="primary">
              Add endpoint
            </button>
            <a class="button" href={`${here}/endpoints`}>
              Cancel
            </a>
          </Actions>
        </form>
      </Card>
    </Page>
  )
}
