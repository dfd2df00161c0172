/** The webhooks of an organization, and the form that creates one (docs/design/console.md W62). */
import type { WebhookRecord } from "@narthex/api"
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import { Empty } from "../components/Empty.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Field } from "../components/Field.tsx"
import { HiddenFields } from "../components/HiddenFields.tsx"
import { Pager } from "../components/Pager.tsx"
import { State } from "../components/State.tsx"
import { Table } from "../components/Table.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { errorOf } from "./Members.tsx"

export type WebhookShown = typeof WebhookRecord.Type

/** The fields of the form as they were filled in. */
export interface WebhookDraft {
  readonly url: string
  readonly label: string
  /** Separated by spaces or commas. */
  readonly types: string
}

export interface WebhooksPageProps {
  readonly frame: Frame
  readonly webhooks: ReadonlyArray<WebhookShown>
  readonly next_cursor: string | null
  readonly draft: WebhookDraft
  readonly form_token: string
  readonly errors: ReadonlyArray<FieldError>
  readonly notice?: string | undefined
  readonly problem?: string | undefined
}

const pausedWords: Readonly<Record<string, string>> = {
  failing: "Paused: the last retry failed",
  gone: "Paused: the receiver answered 410"
}

export const WebhookState = ({
  webhook: { failures_count, paused_reason, status }
}: {
  readonly webhook: WebhookShown
}) =>
  status === "paused" ? (
    <State tone="bad">{pausedWords[paused_reason ?? ""] ?? "Paused"}</State>
  ) : failures_count > 0 ? (
    <State tone="busy">{failures_count === 1 ? "1 attempt failed" : `${failures_count} attempts failed`}</State>
  ) : (
    <State tone="good">Active</State>
  )

/** The fields that creation and change have in common. */
export const WebhookFields = ({
  draft: { label, types, url },
  errors
}: Pick<WebhooksPageProps, "draft" | "errors">) => (
  <>
    <Field
      name="url"
      label="URL"
      value={url}
      required
      maxLength={2048}
      placeholder="https://hooks.example.com/narthex"
      hint="It begins with https:// and leads to an address of the public internet."
      error={errorOf(errors, "url")}
    />
    <Field name="label" label="Label" value={label} maxLength={256} error={errorOf(errors, "label")} />
    <Field
      name="types"
      label="Types"
      value={types}
      placeholder="operation.updated.v1"
      hint="Separated by spaces. Empty: events of every type."
      error={errorOf(errors, "types")}
    />
  </>
)

export const WebhooksPage = (props: WebhooksPageProps) => {
  const { form_token, frame, next_cursor, notice, problem, webhooks } = props
  const here = `/orgs/${frame.organization.id}/settings/webhooks`
  return (
    <Page
      title="Webhooks"
      frame={frame}
      section="settings"
      notice={notice}
      problem={problem}
      errors={props.errors}
      lead={<span>Events of the organization are posted to a URL, in their order, signed by Standard Webhooks.</span>}
    >
      <Card id="webhooks">
        <Table
          label="Webhooks"
          empty={<Empty title="No webhooks yet" />}
          columns={[{ head: "URL" }, { head: "Label" }, { head: "State", phone: "aside" }, { head: "Created" }]}
          rows={webhooks.map((webhook) => ({
            key: webhook.id,
            cells: [
              <a href={`${here}/${webhook.id}`}>{webhook.url}</a>,
              webhook.label,
              <WebhookState webhook={webhook} />,
              <Ago at={webhook.created_at} />
            ]
          }))}
        />
        <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
      </Card>
      <Card id="new-webhook" title="Create a webhook">
        <form method="post" action={here} class="stack slim">
          <HiddenFields fields={{ form_token }} />
          <WebhookFields {...props} />
          <Actions>
            <button type="submit" class="primary">
              Create webhook
            </button>
          </Actions>
        </form>
      </Card>
    </Page>
  )
}
