/** A webhook as facts of a table. */
import type { WebhookRecord } from "@narthex/api"
import { type Cell, facts, instant } from "../output/table.ts"

type Webhook = typeof WebhookRecord.Type

/** The status, and why it is paused or how often it failed. */
export const webhookState = ({ failures_count, paused_reason, status }: Webhook): string => {
  if (paused_reason !== null) return `${status} (${paused_reason})`
  return failures_count === 0 ? status : `${status}, ${failures_count} failed`
}

export const webhookPairs = (webhook: Webhook): ReadonlyArray<readonly [string, Cell]> => [
  ["webhook", webhook.id],
  ["url", webhook.url],
  ["label", webhook.label === "" ? undefined : webhook.label],
  ["status", webhookState(webhook)],
  ["next attempt", instant(webhook.next_attempt_at)],
  ["types", webhook.types.length === 0 ? "all" : webhook.types.join(", ")],
  ["project", webhook.project_id ?? "all"],
  ["position", webhook.position],
  ["former secret", instant(webhook.previous_secret_expires_at)],
  ["created", instant(webhook.created_at)],
  ["by", webhook.created_by.email ?? webhook.created_by.id]
]

export const webhookFacts = (webhook: Webhook) => facts(...webhookPairs(webhook))
