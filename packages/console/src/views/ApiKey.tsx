/** The page of one API key: what it may do and how it was used, its rotation, and its end. */
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import { CopyField } from "../components/CopyField.tsx"
import { Dialog } from "../components/Dialog.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Facts } from "../components/Facts.tsx"
import { Field } from "../components/Field.tsx"
import { HiddenFields } from "../components/HiddenFields.tsx"
import { Ago, Until } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { capabilityMeaning, capabilityName } from "./capabilities.ts"
import { errorOf } from "./Members.tsx"
import type { ApiKeyShown } from "./records.ts"

export interface ApiKeyPageProps {
  readonly frame: Frame
  readonly api_key: ApiKeyShown
  /** Project and branch by name, where they are known. */
  readonly scope: string
  /** Only the person who created a key may rotate it, because the new secret acts as that person. */
  readonly is_own: boolean
  readonly form_token: string
  readonly errors: ReadonlyArray<FieldError>
  readonly problem?: string | undefined
  readonly notice?: string | undefined
}

/** How long the old secret goes on working after a rotation, in seconds. */
export const graces = [
  { value: "0", label: "It ends at once" },
  { value: "3600", label: "It works for another hour" },
  { value: "86400", label: "It works for another day" }
] as const

export const ApiKeyPage = (props: ApiKeyPageProps) => {
  const { api_key, frame, notice, problem, scope } = props
  const { capability, created_at, created_by, expires_at, hint, id, last_used_at, last_used_from, name } = api_key
  return (
    <Page
      title={name}
      frame={frame}
      section="api-keys"
      lead={<span>{capabilityMeaning(capability)}</span>}
      notice={notice}
      problem={problem}
      errors={props.errors}
    >
      <Card id="key">
        <Facts
          items={[
            ["Capability", capabilityName(capability)],
            ["Scope", scope],
            ["Acts as", created_by.email ?? created_by.id],
            ["Created", <Ago at={created_at} />],
            [
              "Last used",
              last_used_at === null ? (
                <span class="faint">never</span>
              ) : (
                <>
                  <Ago at={last_used_at} />
                  {last_used_from === null ? null : (
                    <>
                      {" "}
                      from <code>{last_used_from}</code>
                    </>
                  )}
                </>
              )
            ],
            ["Expires", <Until at={expires_at} none="never" />],
            ["Secret", <code>nsk_…{hint.replace(/^…/, "")}</code>]
          ]}
        />
        <CopyField id="key-id" label="Copy the id of the key" text={id} title="ID" wide />
      </Card>
      <Rotation {...props} />
      <Card id="revocation" title="Revoke">
        <div class="stack">
          <p>Requests with this key are refused at once, and database credentials that it made end. Other keys stay.</p>
          <div class="actions">
            <Dialog
              id="revoke-key"
              opener={`Revoke ${name}`}
              title={`Revoke ${name}?`}
              confirm="Revoke the key"
              action={`/orgs/${frame.organization.id}/api-keys/${id}/revoke`}
            >
              <p>It cannot be undone. Programs that use the key need another one.</p>
            </Dialog>
          </div>
        </div>
      </Card>
    </Page>
  )
}

const Rotation = ({ api_key, errors, form_token, frame, is_own }: ApiKeyPageProps) => (
  <Card id="rotation" title="Rotate">
    {is_own ? (
      <form method="post" action={`/orgs/${frame.organization.id}/api-keys/${api_key.id}/rotate`} class="stack slim">
        <HiddenFields fields={{ form_token }} />
        <p>
          The key gets a new secret, which is shown once. Everything else stays: name, scope, credentials. Its open
          event streams reconnect.
        </p>
        <Field
          name="grace_seconds"
          label="The old secret"
          choices={graces}
          value="3600"
          error={errorOf(errors, "grace_seconds")}
        />
        <Actions>
          <button type="submit">Rotate the secret</button>
        </Actions>
      </form>
    ) : (
      <p>Only {api_key.created_by.email ?? "its creator"} can rotate this key, because the new secret acts as them.</p>
    )}
  </Card>
)
