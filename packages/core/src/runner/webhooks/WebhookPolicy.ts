/** How webhooks are delivered: places, limits and times (docs/design/webhooks.md H6, H10 and H17). */
import { Context, Duration } from "effect"

export interface WebhookSettings {
  /** How many webhooks an instance delivers to at once. */
  readonly places: number
  /** How many of them one organization has at once. */
  readonly per_org: number
  /** How long one attempt may take. */
  readonly attempt: Duration.Duration
  /** How long a claimed webhook belongs to its worker. Each recorded attempt extends it. Longer than an attempt. */
  readonly lease: Duration.Duration
  /** How many events one claim delivers at most, so that others have their turn. */
  readonly batch: number
  /** How long an instance waits for a nudge before it looks for due webhooks again. */
  readonly poll: Duration.Duration
  /** When a webhook without new events is looked at again: a notification may be lost. */
  readonly look: Duration.Duration
}

export const defaultWebhookSettings: WebhookSettings = {
  places: 64,
  per_org: 4,
  attempt: Duration.seconds(15),
  lease: Duration.minutes(1),
  batch: 16,
  poll: Duration.seconds(1),
  look: Duration.minutes(2)
}

export const WebhookPolicy = Context.Reference<WebhookSettings>("@narthex/core/runner/webhooks/WebhookPolicy", {
  defaultValue: () => defaultWebhookSettings
})
