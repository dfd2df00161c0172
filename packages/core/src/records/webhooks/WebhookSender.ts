/**
 * Sends one message to a receiver: a POST over HTTPS to a public address (docs/design/webhooks.md H8 and H9). Adapters
 * resolve the name at each call, check every address, and connect to a checked one. They follow no redirect.
 *
 * The caller sets the deadline; an interruption ends the connection.
 */
import { Context, type Effect, Schema } from "effect"

export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface WebhookAnswer {
  readonly status: number
  readonly retry_after: string | null
  /** The begin of the body. */
  readonly excerpt: string
}

/** There was no answer. `reason` is a sentence for the members of the organization: it has no address of the inside. */
export class WebhookUnreached extends Schema.TaggedError<WebhookUnreached>()("WebhookUnreached", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

export interface Sender {
  readonly post: (request: WebhookRequest) => Effect.Effect<WebhookAnswer, WebhookUnreached>
}

/** Left out: every attempt fails. */
export const WebhookSender = Context.Reference<Sender>("@narthex/core/records/webhooks/WebhookSender", {
  defaultValue: () => ({
    post: () => new WebhookUnreached({ reason: "This program has no connections to the outside." })
  })
})
