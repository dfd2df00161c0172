/** The forms for a branch, and for a sandbox: a branch with an endpoint and a password that expire together. */
import { Actions } from "../../components/Actions.tsx"
import { Card } from "../../components/Card.tsx"
import { Checkbox } from "../../components/Checkbox.tsx"
import { summaryOf } from "../../components/ErrorSummary.tsx"
import { Field } from "../../components/Field.tsx"
import { Page } from "../../shell/Page.tsx"
import type { BranchShown } from "../records.ts"
import { lifetimes, sandboxLifetimes } from "./lifetimes.ts"
import { inSection, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface BranchDraft {
  readonly name: string
  /** The id of the branch to copy. */
  readonly parent: string
  /** Seconds; `""`: the branch does not expire. */
  readonly lifetime: string
  readonly endpoint: boolean
  readonly protected: boolean
}

export interface NewBranchPageProps extends ProjectPageProps {
  readonly branches: ReadonlyArray<BranchShown>
  readonly draft: BranchDraft
  readonly errors?: { readonly name?: string | undefined; readonly parent?: string | undefined; readonly form?: string }
  /** Which form the draft and the errors belong to. */
  readonly kind: "branch" | "sandbox"
  readonly form_token: string
}

export const NewBranchPage = (props: NewBranchPageProps) => {
  const { branches, draft, errors = {}, form_token, kind } = props
  const here = pathOf(props)
  const parents = branches.map(({ id, name }) => ({ value: id, label: name }))
  const sandbox = kind === "sandbox"
  return (
    <Page
      {...inSection(props, "branches")}
      title={sandbox ? "New sandbox" : "New branch"}
      lead={
        sandbox ? (
          <span>
            A branch with an endpoint and a read-write password, for a test or an agent. All three expire together.
          </span>
        ) : (
          <span>A copy of a branch as it is now. It takes seconds, and the original does not change.</span>
        )
      }
      errors={summaryOf(errors)}
      narrow
    >
      <Card id={kind}>
        <form method="post" action={`${here}/${sandbox ? "sandboxes" : "branches"}`} class="form">
          <input type="hidden" name="form_token" value={form_token} />
          <Field
            name="name"
            label="Name"
            value={draft.name}
            maxLength={63}
            hint="A letter first, then letters, digits and _ . / -. Leave blank to generate a name."
            error={errors.name}
          />
          <Field name="parent" label="Copy of" choices={parents} value={draft.parent} error={errors.parent} />
          <Field
            name="lifetime"
            label="Lifetime"
            choices={sandbox ? sandboxLifetimes : lifetimes}
            value={draft.lifetime}
            hint="The branch and its data are deleted then."
          />
          {sandbox ? null : (
            <>
              <Checkbox
                name="endpoint"
                label="With an endpoint"
                hint="What programs connect to. It starts with the first connection."
                checked={draft.endpoint}
              />
              <Checkbox
                name="protected"
                label="Protected"
                hint="It cannot be reset or deleted until you end the protection."
                checked={draft.protected}
              />
            </>
          )}
          <Actions>
            <button type="submit" class="primary">
              {sandbox ? "Create sandbox" : "Create branch"}
            </button>
            <a class="button" href={`${here}/branches`}>
              Cancel
            </a>
          </Actions>
        </form>
      </Card>
      <p class="note">
        {sandbox ? (
          <a href={`${here}/branches/new`}>Create a branch that stays</a>
        ) : (
          <a href={`${here}/sandboxes/new`}>Create a sandbox: a branch and a password that expire together</a>
        )}
      </p>
    </Page>
  )
}
