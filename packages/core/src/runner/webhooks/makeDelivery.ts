/**
 * Delivers to one webhook at a time: claims it, posts its next events one after another, and records each attempt. The
 * loop that does so for several at once is `WebhookWorker`.
 *
 * The process may die between any two lines. The webhook is then claimed again when its lease has expired, and an event
 * whose success was not recorded is posted again, with the same id.
 *
 * Pitfall: posting inside a transaction. A receiver that hangs would hold a connection to the store.
 */
import { Cause, DateTime, Duration, Effect, Option, Random, Result } from "effect"
import { becauseOf } from "../../becauseOf.ts"
import { described, makeOperationId, makeWebhookDeliveryId, type OrgId } from "../../Ids.ts"
import { EventLog } from "../../records/events/EventLog.ts"
import { type AfterAttempt, afterAttempt, isSuccess } from "../../records/webhooks/afterAttempt.ts"
import { SecretSealer } from "../../records/webhooks/SecretSealer.ts"
import { signedHeaders } from "../../records/webhooks/signing.ts"
import { StoredWebhook, WebhookDelivery, webhookLimits } from "../../records/webhooks/Webhook.ts"
import { type WebhookAnswer, WebhookSender, WebhookUnreached } from "../../records/webhooks/WebhookSender.ts"
import { WebhookStore } from "../../records/webhooks/WebhookStore.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { nextMessage } from "./nextMessage.ts"
import { WebhookPolicy } from "./WebhookPolicy.ts"
import { recordAttempt } from "./webhookMetrics.ts"

export type Needs = EventLog | Transaction | WebhookStore

interface Message {
  readonly id: string
  readonly type: string
  readonly body: string
}

export const makeDelivery = Effect.gen(function* () {
  const context = yield* Effect.context<Needs>()
  const log = yield* EventLog
  const sealer = yield* SecretSealer
  const store = yield* WebhookStore
  const { run } = yield* Transaction
  const worker: string = yield* makeOperationId
  const policy = yield* WebhookPolicy

  const claim = (except: ReadonlyArray<OrgId>) =>
    Effect.gen(function* () {
      const now = yield* DateTime.now
      return yield* store.claim({ worker, now, lease_until: DateTime.addDuration(now, policy.lease), except })
    })

  /** Changes the webhook, if this claim is still the latest one. `None`: it is not, or the webhook is gone. */
  const whileHeld = <E>(
    { fence, id, org_id }: StoredWebhook,
    change: (row: StoredWebhook) => Effect.Effect<StoredWebhook, E>
  ) =>
    run(
      Effect.gen(function* () {
        const row = Option.filter(
          yield* store.lock(org_id, id),
          (it) => it.fence === fence && it.lease_owner === worker
        )
        if (Option.isNone(row)) return Option.none<StoredWebhook>()
        const changed = yield* change(row.value)
        yield* store.update(changed)
        return Option.some(changed)
      })
    )

  const released = Effect.fnUntraced(function* (row: StoredWebhook, more: boolean) {
    const now = yield* DateTime.now
    const due_at = more || row.woken ? now : DateTime.addDuration(now, policy.look)
    return new StoredWebhook({ ...row, lease_owner: null, due_at })
  })

  /** Gives the webhook back. `position`: up to where nothing is wanted. */
  const release = (webhook: StoredWebhook, position: string, more: boolean) =>
    whileHeld(webhook, (row) => {
      const moved = row.position !== webhook.position
      return released(moved ? row : new StoredWebhook({ ...row, position }), more || moved)
    })

  const secretsOf = Effect.fnUntraced(function* (webhook: StoredWebhook) {
    const { id, previous_secret, previous_secret_expires_at, secret } = webhook
    const now = yield* DateTime.now
    const formerCounts = previous_secret_expires_at !== null && DateTime.isLessThan(now, previous_secret_expires_at)
    const opened = (sealed: string) => sealer.open(sealed, id)
    const present = yield* Effect.mapError(
      opened(secret),
      () => new WebhookUnreached({ reason: "The signing secret cannot be read. Rotate it." })
    )
    // The former secret may be the unreadable one that the rotation has replaced.
    const former =
      previous_secret !== null && formerCounts ? yield* Effect.option(opened(previous_secret)) : Option.none()
    return [present, ...Option.toArray(former)]
  })

  /** Posts the message. An adapter that dies counts as no answer. */
  const post = Effect.fnUntraced(
    function* (webhook: StoredWebhook, { body, id }: Message) {
      const { post } = yield* WebhookSender
      const timestamp = Math.floor((yield* DateTime.now).epochMilliseconds / 1000)
      const headers = yield* signedHeaders({ id, timestamp, body }, yield* secretsOf(webhook))
      return yield* post({ url: webhook.url, headers, body })
    },
    (posted) =>
      posted.pipe(
        Effect.timeoutOrElse({
          duration: policy.attempt,
          orElse: () =>
            new WebhookUnreached({
              reason: `There was no whole answer within ${Duration.toSeconds(policy.attempt)} seconds.`
            })
        }),
        Effect.catchDefect((defect) =>
          Effect.andThen(
            Effect.logError("A webhook could not be sent.").pipe(becauseOf(Cause.die(defect))),
            new WebhookUnreached({ reason: "An internal error." })
          )
        ),
        Effect.result
      )
  )

  /** The record after the attempt. After a success the worker keeps it, to go on. */
  const recorded = Effect.fnUntraced(function* (row: StoredWebhook, after: AfterAttempt, position: string) {
    const now = yield* DateTime.now
    switch (after.kind) {
      case "delivered":
        return new StoredWebhook({
          ...row,
          position,
          failures_count: 0,
          due_at: DateTime.addDuration(now, policy.lease)
        })
      case "again":
        return new StoredWebhook({
          ...{ ...row, failures_count: row.failures_count + 1, due_at: after.at },
          lease_owner: null
        })
      case "paused":
        return new StoredWebhook({
          ...{ ...row, failures_count: row.failures_count + 1, status: "paused", paused_reason: after.reason },
          lease_owner: null
        })
    }
  })

  /** Posts and records one message. `None`: the webhook is not to be delivered to any more for now. */
  const attempt = Effect.fn("WebhookWorker.attempt")(function* (
    webhook: StoredWebhook,
    message: Message,
    position: string
  ): Effect.fn.Return<Option.Option<StoredWebhook>, StorageError> {
    yield* Effect.annotateCurrentSpan({ webhook_id: webhook.id, event_id: message.id })
    const begun = yield* DateTime.now
    const answer = yield* post(webhook, message)
    const now = yield* DateTime.now
    const got: WebhookAnswer | undefined = Result.getOrUndefined(answer)
    const after = afterAttempt(webhook.failures_count, got, now, yield* Random.next)
    yield* recordAttempt(after.kind)
    const delivery = new WebhookDelivery({
      id: yield* makeWebhookDeliveryId(begun),
      webhook_id: webhook.id,
      event_id: message.id,
      event_type: message.type,
      attempt: webhook.failures_count + 1,
      outcome: after.kind === "delivered" ? "delivered" : "failed",
      status: got?.status ?? null,
      error: whyFailed(answer),
      excerpt: described(got?.excerpt ?? "", webhookLimits.excerpt),
      attempted_at: begun,
      duration_ms: now.epochMilliseconds - begun.epochMilliseconds
    })
    const kept = yield* whileHeld(
      webhook,
      Effect.fnUntraced(function* (row) {
        yield* store.addDelivery(delivery)
        // A replay or a new URL came in between: the answer was about what is no longer wanted.
        const replayed = row.failures_count !== webhook.failures_count && after.kind !== "delivered"
        const moved = replayed || row.position !== webhook.position || row.url !== webhook.url
        return moved ? yield* released(row, true) : yield* recorded(row, after, position)
      })
    )
    return Option.filter(kept, (row) => row.lease_owner !== null)
  })

  const deliver = Effect.fnUntraced(function* (claimed: StoredWebhook) {
    const begun = yield* DateTime.now
    let webhook = claimed
    for (let count = 0; ; ) {
      const next = yield* nextMessage(log, webhook)
      if (next.kind === "none") return yield* release(webhook, next.position, next.more)
      const kept = yield* attempt(webhook, next, next.position)
      if (Option.isNone(kept)) return
      webhook = kept.value
      const spent = DateTime.distance(begun, yield* DateTime.now)
      if (++count >= policy.batch || Duration.isGreaterThan(spent, policy.attempt))
        return yield* release(webhook, webhook.position, true)
    }
  })

  return {
    claim: (except: ReadonlyArray<OrgId>): Effect.Effect<Option.Option<StoredWebhook>, StorageError> => claim(except),
    /** Delivers the next events of a claimed webhook, and gives it back, also if it is interrupted. */
    deliver: (webhook: StoredWebhook): Effect.Effect<void, StorageError> =>
      deliver(webhook).pipe(
        Effect.onInterrupt(() => Effect.ignore(whileHeld(webhook, (row) => released(row, true)))),
        Effect.asVoid,
        Effect.provideContext(context)
      ),
    wake: (orgs: ReadonlyArray<OrgId>) => Effect.flatMap(DateTime.now, (now) => store.wake(orgs, now))
  }
})

const whyFailed = (answer: Result.Result<WebhookAnswer, WebhookUnreached>): string | null => {
  if (Result.isFailure(answer)) return answer.failure.reason
  const { status } = answer.success
  if (isSuccess(answer.success)) return null
  return status >= 300 && status < 400 ? "Redirects are not followed." : `The receiver answered ${status}.`
}
