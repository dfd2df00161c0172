/**
 * A webhook: where an organization has its events delivered, and how far that is (docs/design/webhooks.md).
 *
 * `position` is the id of the last event that is done: delivered, or not wanted. Deliveries go on behind it.
 */
import { Schema } from "effect"
import { OrgId, ProjectId, WebhookId } from "../../Ids.ts"
import { exampleIds as ids, means, exampleTimes as times } from "../../means.ts"
import { UserRef } from "../accounts/UserRef.ts"
import type { NewEvent } from "../events/Envelope.ts"
import type { EventTypeOf } from "../events/eventCatalog.ts"

export const WebhookStatus = Schema.Literals(["active", "paused"])
export type WebhookStatus = typeof WebhookStatus.Type

/** `failing`: the last retry has failed. `gone`: the receiver has answered 410. */
export const PausedReason = Schema.Literals(["failing", "gone"])
export type PausedReason = typeof PausedReason.Type

const instant = Schema.NullOr(Schema.DateTimeUtcFromString)

const shown = {
  id: WebhookId.annotateKey(means("The id of the webhook.", ids.webhook)),
  org_id: OrgId,
  project_id: Schema.NullOr(ProjectId).annotateKey(
    means("Only events of this project are delivered; `null`: those of the whole organization.", null)
  ),
  url: Schema.String.annotateKey(means("The URL that events are posted to.", "https://hooks.example.com/narthex")),
  label: Schema.String.annotateKey(means("The purpose of the webhook, for people; empty: none was given.", "billing")),
  types: Schema.Array(Schema.String).annotateKey(
    means("Only events of these types are delivered; empty: all.", ["operation.updated.v1"])
  ),
  status: WebhookStatus,
  paused_reason: Schema.NullOr(PausedReason),
  position: Schema.String.annotateKey(
    means("The id of the last event that is done. Deliveries go on behind it.", ids.event)
  ),
  failures_count: Schema.Int.annotateKey(means("How many attempts have failed since the last success.", 0)),
  previous_secret_expires_at: instant.annotateKey(
    means("Until when deliveries have a signature of the former secret, too; `null`: there is none.", null)
  ),
  created_at: Schema.DateTimeUtcFromString.annotateKey(means("When it was created.", times.created)),
  created_by: UserRef.annotateKey(means("The person who created it.")),
  updated_at: Schema.DateTimeUtcFromString.annotateKey(means("When it was changed last.", times.updated))
}

/** As callers see it. */
export class Webhook extends Schema.Class<Webhook>("Webhook")({
  ...shown,
  next_attempt_at: instant.annotateKey(
    means("When the next attempt is due, after one that failed; `null`: none has to wait.", null)
  )
}) {}

/** As it is stored: with its secrets, sealed, and the claim of the worker that delivers. */
export class StoredWebhook extends Schema.Class<StoredWebhook>("StoredWebhook")({
  ...shown,
  secret: Schema.String,
  previous_secret: Schema.NullOr(Schema.String),
  /** Whether there may be new events since the last claim. */
  woken: Schema.Boolean,
  /** When it is claimed next, if it is active. While it is claimed, the end of the lease. */
  due_at: Schema.DateTimeUtcFromString,
  lease_owner: Schema.NullOr(Schema.String),
  /** Grows with each claim. */
  fence: Schema.Int
}) {
  get view(): Webhook {
    const waits = this.status === "active" && this.failures_count > 0 && this.lease_owner === null
    return new Webhook({ ...this, next_attempt_at: waits ? this.due_at : null })
  }
}

export const DeliveryOutcome = Schema.Literals(["delivered", "failed"])
export type DeliveryOutcome = typeof DeliveryOutcome.Type

/** One attempt to deliver an event. */
export class WebhookDelivery extends Schema.Class<WebhookDelivery>("WebhookDelivery")({
  id: Schema.String.annotateKey(means("The id of the attempt.", "01980f43-4a00-7f32-9c7d-5e6f7a8b9c0d")),
  webhook_id: WebhookId,
  event_id: Schema.String.annotateKey(means("The event, which the receiver got as `webhook-id`.", ids.event)),
  event_type: Schema.String.annotateKey(means("The type of the event.", "operation.updated.v1")),
  attempt: Schema.Int.annotateKey(means("1 for the first attempt, and more after failures.", 1)),
  outcome: DeliveryOutcome,
  status: Schema.NullOr(Schema.Int).annotateKey(means("The status of the answer; `null`: there was none.", 204)),
  error: Schema.NullOr(Schema.String).annotateKey(means("Why the attempt failed; `null`: it did not.", null)),
  excerpt: Schema.String.annotateKey(means("The begin of the body of the answer.", "")),
  attempted_at: Schema.DateTimeUtcFromString.annotateKey(means("When the attempt began.", times.updated)),
  duration_ms: Schema.Int.annotateKey(means("How long it took, in milliseconds.", 87))
}) {}

/** The bounds of webhooks (docs/design/webhooks.md). */
export const webhookLimits = {
  /** The most types of a filter. */
  types: 50,
  /** The most characters of a URL. */
  url: 2048,
  /** The most attempts that the log of a webhook keeps. */
  deliveries: 200,
  /** The most characters of an answer that an attempt keeps. */
  excerpt: 256
} as const

const webhookTestType = "webhook.test.v1" satisfies EventTypeOf<"webhooks">

/** The event that tests a webhook. No other webhook delivers it. */
export const webhookTested = ({ id, org_id, project_id }: Pick<Webhook, "id" | "org_id" | "project_id">): NewEvent => ({
  ...{ org_id, project_id, type: webhookTestType, source: "webhooks", internal: false },
  data: { webhook_id: id }
})

/** Whether the webhook delivers this event. Events of other organizations and projects are not asked about. */
export const wantsEvent = (
  { id, types }: Pick<Webhook, "id" | "types">,
  event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }
): boolean =>
  event.type === webhookTestType ? event.data["webhook_id"] === id : types.length === 0 || types.includes(event.type)
