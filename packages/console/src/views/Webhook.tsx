/** The page of one webhook: how far it is, its last attempts, its change, its secret, its end. */
import type { WebhookDeliveryRecord } from "@narthex/api"
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import { CopyField } from "../components/CopyField.tsx"
import { Dialog } from "../components/Dialog.tsx"
import { Empty } from "../components/Empty.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Facts } from "../components/Facts.tsx"
import { Field } from "../components/Field.tsx"
import { HiddenFields } from "../components/HiddenFields.tsx"
import { Pager } from "../components/Pager.tsx"
import { State } from "../components/State.tsx"
import { Table } from "../components/Table.tsx"
import { Ago, Until } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { errorOf } from "./Members.tsx"
import { type WebhookDraft, WebhookFields, type WebhookShown, WebhookState } from "./Webhooks.tsx"

type DeliveryShown = typeof WebhookDeliveryRecord.Type

export interface WebhookPageProps {
  readonly frame: Frame
  readonly webhook: WebhookShown
  readonly deliveries: ReadonlyArray<DeliveryShown>
  readonly next_cursor: string | null
  readonly draft: WebhookDraft
  readonly after: string
  readonly form_token: string
  readonly errors: ReadonlyArray<FieldError>
  readonly notice?: string | undefined
  readonly problem?: string | undefined
}

export const WebhookPage = (props: WebhookPageProps) => {
  const { frame, notice, problem, webhook } = props
  const { created_at, created_by, id, next_attempt_at, position, project_id, url } = webhook
  const here = `/orgs/${frame.organization.id}/settings/webhooks/${id}`
  return (
    <Page
      title={webhook.label === "" ? url : webhook.label}
      frame={frame}
      section="settings"
      notice={notice}
      problem={problem}
      errors={props.errors}
    >
      <Card id="webhook">
        <Facts
          items={[
            ["State", <WebhookState webhook={webhook} />],
            ["URL", <code>{url}</code>],
            ["Events of", project_id === null ? "the whole organization" : <code>{project_id}</code>],
            ["Done up to", <code>{position}</code>],
            ["Next attempt", <Until at={next_attempt_at} none="with the next event" />],
            [
              "Created",
              <>
                <Ago at={created_at} /> by {created_by.email ?? "a former member"}
              </>
            ]
          ]}
        />
        <CopyField id="webhook-id" label="Copy the id of the webhook" text={id} title="ID" wide />
        <div class="actions">
          {webhook.status === "paused" ? null : (
            <form method="post" action={`${here}/test`}>
              <button type="submit">Send a test</button>
            </form>
          )}
          <Dialog
            id="rotate-secret"
            opener="Rotate the secret"
            title="Rotate the secret?"
            confirm="Rotate the secret"
            action={`${here}/rotate-secret`}
            fields={{ form_token: props.form_token }}
            tone="plain"
          >
            <p>Deliveries are signed with the former secret, too, for another day.</p>
          </Dialog>
        </div>
      </Card>
      <Deliveries {...props} here={here} />
      <Card id="replay" title="Replay">
        <form method="post" action={`${here}/replay`} class="stack slim">
          <p>The webhook goes on at once, also after a pause.</p>
          <Field
            name="after"
            label="Behind the event"
            value={props.after}
            placeholder={position}
            hint="Events behind it are delivered, also those that were delivered before. Empty: go on where the webhook is."
            error={errorOf(props.errors, "after")}
          />
          <Actions>
            <button type="submit">Replay</button>
          </Actions>
        </form>
      </Card>
      <Card id="change" title="Change">
        <form method="post" action={here} class="stack slim">
          <HiddenFields fields={{ form_token: props.form_token }} />
          <WebhookFields {...props} />
          <Actions>
            <button type="submit">Save</button>
          </Actions>
        </form>
      </Card>
      <Card id="deletion" title="Delete">
        <div class="stack">
          <p>Nothing more is delivered, and what waits is not delivered either.</p>
          <div class="actions">
            <Dialog
              id="delete-webhook"
              opener="Delete the webhook"
              title="Delete the webhook?"
              confirm="Delete the webhook"
              action={`${here}/delete`}
            >
              <p>It cannot be undone. Its attempts are deleted, too.</p>
            </Dialog>
          </div>
        </div>
      </Card>
    </Page>
  )
}

const Deliveries = ({ deliveries, here, next_cursor }: WebhookPageProps & { readonly here: string }) => (
  <Card id="deliveries" title="Attempts">
    <Table
      label="Attempts to deliver, the newest first"
      empty={<Empty title="Nothing was delivered in the last 7 days" />}
      columns={[
        { head: "Event" },
        { head: "Outcome", phone: "aside" },
        { head: "Answer" },
        { head: "Attempt" },
        { head: "At" }
      ]}
      rows={deliveries.map((it) => ({
        key: it.id,
        cells: [
          <>
            {it.event_type}
            <span class="under">
              <code>{it.event_id}</code>
            </span>
          </>,
          <State tone={it.outcome === "delivered" ? "good" : "bad"}>{it.outcome}</State>,
          <>
            {it.error ?? it.status}
            {it.excerpt === "" ? null : <span class="under">{it.excerpt}</span>}
          </>,
          it.attempt,
          <>
            <Ago at={it.attempted_at} />
            <span class="under">{it.duration_ms} ms</span>
          </>
        ]
      }))}
    />
    <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
  </Card>
)
