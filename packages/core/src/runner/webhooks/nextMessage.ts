/** The next message of a webhook, from the log: an event that it wants, or a gap where the log has dropped events. */
import { DateTime, Effect, Option } from "effect"
import { Envelope, toEnvelope } from "../../records/events/Envelope.ts"
import { resumeGapId } from "../../records/events/EventId.ts"
import type { EventLog } from "../../records/events/EventLog.ts"
import { EmittingRegion } from "../../records/events/EventSettings.ts"
import type { EventTypeOf } from "../../records/events/eventCatalog.ts"
import { webhookBody } from "../../records/webhooks/message.ts"
import { type StoredWebhook, wantsEvent } from "../../records/webhooks/Webhook.ts"

export type Next =
  | {
      readonly kind: "message"
      readonly id: string
      readonly type: string
      readonly body: string
      /** The position of the webhook once the message is delivered. */
      readonly position: string
    }
  /** Nothing up to `position` is wanted. `more`: the log has events behind it. */
  | { readonly kind: "none"; readonly position: string; readonly more: boolean }

/** How many events are read at once. */
const pageSize = 100

const historyPath = (project_id: string | null) =>
  project_id === null ? "/v1/events/history" : `/v1/projects/${project_id}/events/history`

export const nextMessage = Effect.fnUntraced(function* (log: EventLog["Service"], webhook: StoredWebhook) {
  const { org_id, position, project_id } = webhook
  // Before the page: every event up to it is in the page, or behind one of the page.
  const head = yield* log.headOf(org_id)
  const floor = yield* log.headOf(org_id, position)
  if (floor !== position) {
    // Above: retention has removed events behind the position. Below: the log has lost the event at the position.
    const reason = floor > position ? "too_old" : "ahead"
    const { oldest_id } = yield* log.history(org_id, project_id, position, 1)
    const id = resumeGapId(position)
    const type = "resume.gap.v1" satisfies EventTypeOf<"_broker">
    const envelope = new Envelope({
      ...{ id, type, source: "_broker", org_id },
      ...(project_id === null ? {} : { project_id }),
      region_id: yield* EmittingRegion,
      at: yield* DateTime.now,
      data: {
        reason,
        last_event_id: position,
        oldest_id: Option.getOrNull(oldest_id),
        latest_id: head,
        history_url: historyPath(project_id)
      }
    })
    return {
      kind: "message",
      id,
      type,
      body: webhookBody(envelope),
      position: reason === "ahead" ? head : floor
    } satisfies Next
  }
  const page = yield* log.history(org_id, project_id, position, pageSize)
  // Retention has removed events since the line above.
  if (!page.complete) return { kind: "none", position, more: true } satisfies Next
  const wanted = page.events.find((event) => wantsEvent(webhook, event))
  if (wanted !== undefined)
    return {
      ...{ kind: "message", id: wanted.id, type: wanted.type, body: webhookBody(toEnvelope(wanted)) },
      position: wanted.id
    } satisfies Next
  const last = page.events.at(-1)?.id ?? position
  return { kind: "none", position: page.more || last > head ? last : head, more: page.more } satisfies Next
})
