/** The page of API keys: the list, and the form for a new key in a dialog. */
import { Command } from "../components/Command.tsx"
import { Dialog } from "../components/Dialog.tsx"
import { Empty } from "../components/Empty.tsx"
import { Field } from "../components/Field.tsx"
import { Notice } from "../components/Notice.tsx"
import { Pager } from "../components/Pager.tsx"
import { Ago, Until } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { type ApiKeyShown, type ProjectShown, words } from "./records.ts"

export const capabilities = [
  { value: "read_write", label: "Read and write" },
  { value: "read", label: "Read only" },
  { value: "agent", label: "Agent: manages branches, cannot write to main" }
] as const

export const scopeChoices = (projects: ReadonlyArray<ProjectShown>) => [
  { value: "organization", label: "The whole organization" },
  ...projects.map(({ id, name }) => ({ value: `project:${id}`, label: `Project ${name}` }))
]

export interface KeyDraft {
  readonly name: string
  readonly capability: string
  readonly scope: string
  readonly expires_in_days: string
}

export interface ApiKeysPageProps {
  readonly frame: Frame
  readonly api_keys: ReadonlyArray<ApiKeyShown>
  readonly projects: ReadonlyArray<ProjectShown>
  readonly next_cursor: string | null
  readonly draft: KeyDraft
  readonly form_token: string
  /** Errors of the submitted form; they open the dialog. */
  readonly errors?: Partial<Record<keyof KeyDraft | "form", string | undefined>> | undefined
  readonly notice?: string | undefined
}

export const ApiKeysPage = (props: ApiKeysPageProps) => {
  const { api_keys, frame, next_cursor, notice } = props
  const here = `/orgs/${frame.organization.id}/api-keys`
  return (
    <Page
      title="API keys"
      frame={frame}
      section="api-keys"
      actions={
        <button type="button" class="primary" command="show-modal" commandfor="create-key">
          Create API key
        </button>
      }
      lead={<span>A key acts as the person who created it, within its capability and scope.</span>}
      notice={notice}
    >
      <CreateDialog {...props} here={here} />
      {api_keys.length === 0 ? (
        <Empty title="No API keys yet">
          <p>
            The command line creates its own key when you sign in: <Command>narthex login</Command>
          </p>
        </Empty>
      ) : (
        <Keys {...props} here={here} />
      )}
      <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
    </Page>
  )
}

const CreateDialog = (props: ApiKeysPageProps & { readonly here: string }) => {
  const { draft, errors, form_token, here, projects } = props
  return (
    <dialog id="create-key" aria-labelledby="create-key-title" open={errors !== undefined}>
      <h2 id="create-key-title">Create API key</h2>
      {errors?.form === undefined ? null : <Notice tone="bad">{errors.form}</Notice>}
      <form method="post" action={here} class="stack">
        <input type="hidden" name="form_token" value={form_token} />
        <Field name="name" label="Name" value={draft.name} error={errors?.name} required maxLength={64} />
        <Field
          name="capability"
          label="Capability"
          choices={capabilities}
          value={draft.capability}
          error={errors?.capability}
        />
        <Field name="scope" label="Scope" choices={scopeChoices(projects)} value={draft.scope} error={errors?.scope} />
        <Field
          name="expires_in_days"
          label="Expires in (days)"
          value={draft.expires_in_days}
          inputMode="numeric"
          hint="Blank: never. At most 3650."
          error={errors?.expires_in_days}
        />
        <p class="actions">
          <button type="submit" class="primary">
            Create key
          </button>
          <button type="button" command="close" commandfor="create-key">
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  )
}

const Keys = ({ api_keys, here, projects }: ApiKeysPageProps & { readonly here: string }) => (
  <div class="table">
    <table>
      <caption class="hidden">API keys that are not revoked</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Hint</th>
          <th scope="col">Capability</th>
          <th scope="col">Scope</th>
          <th scope="col">Created</th>
          <th scope="col">Last used</th>
          <th scope="col">Expires</th>
          <th scope="col">
            <span class="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {api_keys.map((key, index) => (
          <tr key={key.id}>
            <th scope="row">
              {key.name}
              <span class="soft under">{key.created_by.email}</span>
            </th>
            <td>
              <code>{key.hint}</code>
            </td>
            <td>{words(key.capability)}</td>
            <td>{scopeName(key.scope, projects)}</td>
            <td>
              <Ago at={key.created_at} />
            </td>
            <td>
              <Until at={key.last_used_at} none="never" />
            </td>
            <td>
              <Until at={key.expires_at} none="never" />
            </td>
            <td class="end">
              <Dialog
                id={`revoke-${index}`}
                opener="Revoke"
                openerLabel={`Revoke ${key.name}`}
                title={`Revoke ${key.name}?`}
                action={`${here}/${key.id}/revoke`}
                confirm="Revoke the key"
              >
                <p>Requests with this key are refused immediately. Other keys are not affected.</p>
              </Dialog>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const scopeName = (scope: ApiKeyShown["scope"], projects: ReadonlyArray<ProjectShown>): string => {
  if (scope.type === "organization") return "organization"
  const project = projects.find(({ id }) => id === scope.project_id)?.name ?? scope.project_id
  return scope.type === "project" ? `project ${project}` : `branch ${scope.branch_id} of ${project}`
}
