/** The form for a new API key: what it may do, where, and for how long, in words. */
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Field } from "../components/Field.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { capabilities } from "./capabilities.ts"
import { errorOf } from "./Members.tsx"
import type { BranchShown, ProjectShown } from "./records.ts"

export interface KeyDraft {
  readonly name: string
  readonly capability: string
  readonly scope: string
  /** The id of a branch of the scope; `""`: all of it. */
  readonly branch: string
  readonly expires_in_days: string
}

export const emptyKeyDraft: KeyDraft = {
  name: "",
  capability: "read_write",
  scope: "organization",
  branch: "",
  expires_in_days: "90"
}

/** The first values for the key of an agent. */
export const agentKeyDraft: KeyDraft = {
  name: "agent",
  capability: "agent",
  scope: "organization",
  branch: "",
  expires_in_days: "30"
}

/** The lifetimes that the form offers; `""`: the key does not expire. */
const lifetimes = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "One year" },
  { value: "", label: "It does not expire" }
]

export interface NewApiKeyPageProps {
  readonly frame: Frame
  readonly projects: ReadonlyArray<ProjectShown>
  /** The branches of the project that is the scope of the draft; `null`: the scope is the organization. */
  readonly branches: ReadonlyArray<BranchShown> | null
  readonly draft: KeyDraft
  readonly form_token: string
  readonly errors: ReadonlyArray<FieldError>
  readonly problem?: string | undefined
}

export const scopeChoices = (projects: ReadonlyArray<ProjectShown>) => [
  { value: "organization", label: "The whole organization" },
  ...projects.map(({ id, name }) => ({ value: `project:${id}`, label: `Project ${name}` }))
]

export const NewApiKeyPage = (props: NewApiKeyPageProps) => {
  const { branches, draft, errors, form_token, frame, problem, projects } = props
  const keys = `/orgs/${frame.organization.id}/api-keys`
  const capabilityError = errorOf(errors, "capability")
  const known = lifetimes.some(({ value }) => value === draft.expires_in_days)
  return (
    <Page title="New API key" frame={frame} section="api-keys" errors={errors} problem={problem} narrow>
      <Card id="new-key">
        <form method="get" action={`${keys}/new`} class="stack slim" autocomplete="off">
          <Field
            name="name"
            label="Name"
            value={draft.name}
            required
            maxLength={64}
            hint="Where it is used, such as “ci deploy”. Activity shows it."
            error={errorOf(errors, "name")}
          />
          <div
            class="options"
            role="radiogroup"
            aria-labelledby="capability-label"
            aria-invalid={capabilityError === undefined ? undefined : "true"}
            aria-describedby={capabilityError === undefined ? undefined : "capability-error"}
          >
            <p class="label" id="capability-label">
              Capability
            </p>
            {capabilities.map(({ meaning, name, value }, index) => (
              <label key={value} htmlFor={index === 0 ? "capability" : `capability-${value}`}>
                <input
                  type="radio"
                  name="capability"
                  value={value}
                  id={index === 0 ? "capability" : `capability-${value}`}
                  checked={draft.capability === value}
                />
                <span>
                  <strong>{name}</strong>
                  <span class="soft">{meaning}</span>
                </span>
              </label>
            ))}
            {capabilityError === undefined ? null : (
              <p class="error" id="capability-error">
                {capabilityError}
              </p>
            )}
          </div>
          <Field
            name="scope"
            label="Scope"
            choices={scopeChoices(projects)}
            value={draft.scope}
            hint="Outside of it the key is refused."
            error={errorOf(errors, "scope")}
            shows="key-branch"
          />
          <div id="key-branch">
            {branches === null ? null : (
              <Field
                name="branch"
                label="Branch"
                choices={[
                  { value: "", label: "All branches" },
                  ...branches.map(({ id, name }) => ({ value: id, label: name }))
                ]}
                value={draft.branch}
                error={errorOf(errors, "branch")}
              />
            )}
          </div>
          <Field
            name="expires_in_days"
            label="Lifetime"
            choices={
              known
                ? lifetimes
                : [...lifetimes, { value: draft.expires_in_days, label: `${draft.expires_in_days} days` }]
            }
            value={draft.expires_in_days}
            error={errorOf(errors, "expires_in_days")}
          />
          <Actions>
            <button
              type="submit"
              class="primary"
              formmethod="post"
              formaction={keys}
              name="form_token"
              value={form_token}
            >
              Create key
            </button>
            <a class="button" href={keys}>
              Cancel
            </a>
            <noscript>
              <button type="submit" formnovalidate>
                Show the branches of the project
              </button>
            </noscript>
          </Actions>
        </form>
      </Card>
    </Page>
  )
}
