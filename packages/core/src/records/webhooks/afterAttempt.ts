/** The consequence of an attempt to deliver: success, another attempt, or a pause. Pure (docs/design/webhooks.md H6 and H7). */
import { DateTime, Duration } from "effect"
import type { PausedReason } from "./Webhook.ts"
import type { WebhookAnswer } from "./WebhookSender.ts"

/** The pauses after the first failure, the second, and so on. After as many retries the webhook is paused. */
export const retryPauses: ReadonlyArray<Duration.Duration> = [
  Duration.seconds(5),
  Duration.minutes(5),
  Duration.minutes(30),
  Duration.hours(2),
  Duration.hours(5),
  Duration.hours(10),
  Duration.hours(14),
  Duration.hours(20),
  Duration.hours(24)
]

/** The longest pause that a receiver can ask for. */
export const longestRetryAfter = Duration.hours(24)

/** A pause is longer by at most this share, so that attempts that failed together do not come together again. */
const jitter = 0.2

export type AfterAttempt =
  | { readonly kind: "delivered" }
  | { readonly kind: "again"; readonly at: DateTime.Utc }
  | { readonly kind: "paused"; readonly reason: PausedReason }

/** The pause that `Retry-After` asks for: seconds, or a date of HTTP. Other text asks for none. */
export const askedPause = (retryAfter: string | null, now: DateTime.Utc): Duration.Duration => {
  const text = retryAfter?.trim() ?? ""
  const seconds = /^\d{1,9}$/.test(text)
    ? Number(text)
    : (Date.parse(/^[A-Z][a-z]{2}, .* GMT$/.test(text) ? text : "") - now.epochMilliseconds) / 1000
  return seconds > 0 ? Duration.min(Duration.seconds(seconds), longestRetryAfter) : Duration.zero
}

export const isSuccess = ({ status }: Pick<WebhookAnswer, "status">): boolean => status >= 200 && status < 300

/**
 * `failures` are those before this attempt. `answer` `undefined`: there was none. `random` is from 0 to 1.
 */
export const afterAttempt = (
  failures: number,
  answer: WebhookAnswer | undefined,
  now: DateTime.Utc,
  random: number
): AfterAttempt => {
  if (answer !== undefined && isSuccess(answer)) return { kind: "delivered" }
  if (answer?.status === 410) return { kind: "paused", reason: "gone" }
  const pause = retryPauses[failures]
  if (pause === undefined) return { kind: "paused", reason: "failing" }
  const wanted = Duration.times(pause, 1 + jitter * random)
  const asked = askedPause(answer?.retry_after ?? null, now)
  return { kind: "again", at: DateTime.addDuration(now, Duration.max(wanted, asked)) }
}
