/** The page on which a person authorizes a command line. It never continues by itself. */
import { Actions } from "../components/Actions.tsx"
import { Facts } from "../components/Facts.tsx"
import { Field } from "../components/Field.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { capabilityChoices } from "./capabilities.ts"
import { scopeChoices } from "./NewApiKey.tsx"
import type { ProjectShown } from "./records.ts"

export const lifetimes = [
  { value: "1", label: "1 day" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "Never" }
] as const

export interface CliAuthorizePageProps {
  readonly frame: Frame
  readonly projects: ReadonlyArray<ProjectShown>
  /** The name of the key, as the command line requests it. */
  readonly name: string
  readonly port: string
  /** Hidden fields of the form. */
  readonly request: Readonly<Record<string, string>>
  readonly draft: { readonly capability: string; readonly scope: string; readonly lifetime: string }
  readonly error?: string | undefined
}

export const CliAuthorizePage = (props: CliAuthorizePageProps) => {
  const { draft, error, frame, name, port, projects, request } = props
  return (
    <Page
      title="Authorize the command line"
      heading="Authorize the command line?"
      frame={frame}
      problem={error}
      narrow
      lead={
        <p>
          A program on this computer, listening on port {port}, requests an API key. Authorize it only if you have just
          started <code>narthex login</code> yourself.
        </p>
      }
    >
      <form method="post" action="/cli/authorize" class="sheet">
        {Object.entries(request).map(([field, value]) => (
          <input key={field} type="hidden" name={field} value={value} />
        ))}
        <input type="hidden" name="org_id" value={frame.organization.id} />
        <Facts
          items={[
            ["Organization", frame.organization.name],
            ["Account", frame.user.email ?? frame.user.name ?? "–"],
            ["Key name", name]
          ]}
        />
        <Field
          name="capability"
          label="Capability"
          choices={capabilityChoices}
          value={draft.capability}
          hint="What the key may do. It never exceeds your own permissions."
        />
        <Field name="scope" label="Scope" choices={scopeChoices(projects)} value={draft.scope} />
        <Field name="lifetime" label="Expires after" choices={lifetimes} value={draft.lifetime} />
        <Actions>
          <button type="submit" name="action" value="authorize" class="primary">
            Authorize
          </button>
          <button type="submit" name="action" value="cancel">
            Cancel
          </button>
        </Actions>
      </form>
    </Page>
  )
}
