/**
 * The worker of webhooks, on any number of instances at once (docs/design/webhooks.md H10 and H17). `makeDelivery`
 * delivers to a claimed one.
 */
import { Context, Effect, Layer, Option, Queue, Semaphore, Stream } from "effect"
import { becauseOf } from "../../becauseOf.ts"
import type { OrgId } from "../../Ids.ts"
import { EventFeed } from "../../records/events/EventFeed.ts"
import type { StoredWebhook } from "../../records/webhooks/Webhook.ts"
import type { StorageError } from "../../StorageError.ts"
import { makeDelivery, type Needs } from "./makeDelivery.ts"
import { WebhookPolicy } from "./WebhookPolicy.ts"
import { showAttempts } from "./webhookMetrics.ts"

export class WebhookWorker extends Context.Service<
  WebhookWorker,
  {
    /** Delivers to the webhook that has been due longest. `false`: none is due. */
    readonly runOne: Effect.Effect<boolean, StorageError>
  }
>()("@narthex/core/runner/webhooks/WebhookWorker") {
  /** Does nothing on its own: tests call `runOne`. */
  static readonly layerManual: Layer.Layer<WebhookWorker, never, Needs> = Layer.effect(
    WebhookWorker,
    Effect.map(makeDelivery, ({ claim, deliver }) =>
      WebhookWorker.of({
        runOne: Effect.gen(function* () {
          const due = yield* claim([])
          if (Option.isNone(due)) return false
          yield* deliver(due.value)
          return true
        })
      })
    )
  )

  /** Delivers as long as its scope lives. When it closes, attempts are interrupted, and their webhooks given back. */
  static readonly layerLoop: Layer.Layer<never, never, EventFeed | Needs> = Layer.effectDiscard(
    Effect.gen(function* () {
      yield* showAttempts
      const { claim, deliver, wake } = yield* makeDelivery
      const { events } = yield* EventFeed
      const { per_org, places, poll } = yield* WebhookPolicy
      const scope = yield* Effect.scope
      const nudges = yield* Queue.sliding<void>(1)
      const free = yield* Semaphore.make(places)
      const taken = new Map<OrgId, number>()
      const take = (org: OrgId, change: 1 | -1) =>
        Effect.sync(() => {
          const count = (taken.get(org) ?? 0) + change
          if (count === 0) taken.delete(org)
          else taken.set(org, count)
        })
      const nudge = Queue.offer(nudges, undefined)

      const occupy = ({ org_id }: StoredWebhook, delivered: Effect.Effect<void, StorageError>) =>
        Effect.andThen(
          take(org_id, 1),
          delivered.pipe(
            Effect.catchCause((cause) =>
              Effect.logError("A webhook could not be delivered to; trying again later.").pipe(becauseOf(cause))
            ),
            Effect.ensuring(Effect.all([take(org_id, -1), free.release(1), nudge], { discard: true })),
            Effect.forkIn(scope)
          )
        )

      const dispatch = Effect.gen(function* () {
        yield* free.take(1)
        const full = [...taken].filter(([, count]) => count >= per_org).map(([org]) => org)
        const due = yield* Effect.catchCause(claim(full), (cause) =>
          Effect.as(Effect.logError("Webhooks cannot be claimed.").pipe(becauseOf(cause)), Option.none<StoredWebhook>())
        )
        if (Option.isSome(due)) return yield* occupy(due.value, deliver(due.value))
        yield* free.release(1)
        yield* Effect.timeoutOption(Queue.take(nudges), poll)
      })

      const learned = Stream.runForEachArray(events, (batch) => {
        const orgs = new Set(batch.filter(({ internal }) => !internal).map(({ org_id }) => org_id))
        if (orgs.size === 0) return Effect.void
        return Effect.andThen(wake([...orgs]), nudge).pipe(
          Effect.catchCause((cause) =>
            Effect.logWarning("Webhooks were not told of events; they are looked at later.").pipe(becauseOf(cause))
          )
        )
      })
      yield* Effect.forkScoped(learned)
      yield* Effect.forkScoped(Effect.forever(dispatch))
    })
  )
}
