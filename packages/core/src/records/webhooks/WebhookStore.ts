/**
 * Port: webhooks, the claims of the workers that deliver, and the log of attempts.
 *
 * A worker holds a webhook by a lease. When it dies, the lease expires and another worker claims the webhook. Each claim
 * has a number, its fence: only the worker of the latest one changes the record, under `lock`.
 *
 * Pitfall: `update` with a record that was read without `lock`. It would undo a `wake` that came in between.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { OrgId, WebhookId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { StoredWebhook, type WebhookDelivery, webhookLimits } from "./Webhook.ts"

export interface WebhookClaim {
  readonly worker: string
  readonly now: DateTime.Utc
  readonly lease_until: DateTime.Utc
  /** Organizations that have all their places: their webhooks are not claimed. */
  readonly except: ReadonlyArray<OrgId>
}

export class WebhookStore extends Context.Service<
  WebhookStore,
  {
    readonly insert: (webhook: StoredWebhook) => Effect.Effect<void, StorageError>
    readonly find: (org: OrgId, id: WebhookId) => Effect.Effect<Option.Option<StoredWebhook>, StorageError>
    /** As `find`, and locks the row until the end of the transaction. */
    readonly lock: (org: OrgId, id: WebhookId) => Effect.Effect<Option.Option<StoredWebhook>, StorageError>
    /** Writes the whole record, which `lock` answered in this transaction. */
    readonly update: (webhook: StoredWebhook) => Effect.Effect<void, StorageError>
    /** Removes a webhook with its log. `false`: there is none. */
    readonly remove: (org: OrgId, id: WebhookId) => Effect.Effect<boolean, StorageError>
    /** Removes all webhooks of an organization with their logs. */
    readonly removeAll: (org: OrgId) => Effect.Effect<void, StorageError>
    /** Newest first. */
    readonly list: (org: OrgId, page: PageRequest) => Effect.Effect<Page<StoredWebhook>, StorageError>
    /**
     * Marks the active webhooks of the organizations: there are new events. A webhook that no worker
     * holds, and that does not wait after a failure, is due now. A webhook that is held is looked at again by its worker.
     */
    readonly wake: (orgs: ReadonlyArray<OrgId>, now: DateTime.Utc) => Effect.Effect<void, StorageError>
    /**
     * Leases the active webhook that has been due longest to the worker, and takes the mark of `wake` off. Atomic:
     * exactly one of several simultaneous workers gets a webhook. `None`: none is due, or others are claiming it.
     */
    readonly claim: (claim: WebhookClaim) => Effect.Effect<Option.Option<StoredWebhook>, StorageError>
    /** Adds an attempt, and removes those of the webhook beyond the newest `webhookLimits.deliveries`. */
    readonly addDelivery: (delivery: WebhookDelivery) => Effect.Effect<void, StorageError>
    /** The attempts of a webhook, newest first. */
    readonly deliveries: (id: WebhookId, page: PageRequest) => Effect.Effect<Page<WebhookDelivery>, StorageError>
    /** Purges at most `limit` attempts from before the instant, and returns how many. */
    readonly purge: (before: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
  }
>()("@narthex/core/records/webhooks/WebhookStore") {
  static readonly layerMemory: Layer.Layer<WebhookStore, never, MemoryStorage> = Layer.effect(
    WebhookStore,
    Effect.gen(function* () {
      const { table, transaction } = yield* MemoryStorage
      const webhooks = table<StoredWebhook>("webhook")
      const deliveries = table<WebhookDelivery>("webhook_delivery")

      const find = (org: OrgId, id: WebhookId) =>
        Effect.map(
          webhooks.get(id),
          Option.filter((row) => row.org_id === org)
        )
      const removeWhere = (goes: (row: StoredWebhook) => boolean) =>
        transaction(
          Effect.gen(function* () {
            const gone = (yield* webhooks.all).filter(goes)
            yield* Effect.forEach(gone, ({ id }) => webhooks.remove(id), { discard: true })
            yield* deliveries.modify((rows) => [
              undefined,
              rows.filter(({ webhook_id }) => gone.some(({ id }) => id === webhook_id)).map(({ id }) => [id, undefined])
            ])
            return gone.length > 0
          })
        )
      const marked = (row: StoredWebhook, now: DateTime.Utc) => {
        const waits = row.lease_owner !== null || row.failures_count > 0
        return new StoredWebhook({ ...row, woken: true, due_at: waits ? row.due_at : DateTime.min(row.due_at, now) })
      }

      return WebhookStore.of({
        insert: (webhook) => webhooks.put(webhook.id, webhook),
        find,
        lock: find,
        update: (webhook) => webhooks.put(webhook.id, webhook),
        remove: (org, id) => removeWhere((row) => row.org_id === org && row.id === id),
        removeAll: (org) => Effect.asVoid(removeWhere((row) => row.org_id === org)),
        list: (org, page) =>
          Effect.map(webhooks.all, (rows) =>
            pageOfAll(
              rows.filter((row) => row.org_id === org),
              page
            )
          ),
        wake: (orgs, now) =>
          webhooks.modify((rows) => [
            undefined,
            rows
              .filter((row) => row.status === "active" && !row.woken && orgs.includes(row.org_id))
              .map((row) => [row.id, marked(row, now)])
          ]),
        claim: ({ except, lease_until, now, worker }) =>
          webhooks.modify((rows) => {
            const [next] = rows
              .filter(
                (row) =>
                  row.status === "active" &&
                  DateTime.isLessThanOrEqualTo(row.due_at, now) &&
                  !except.includes(row.org_id)
              )
              .toSorted((a, b) => a.due_at.epochMilliseconds - b.due_at.epochMilliseconds)
            if (next === undefined) return [Option.none<StoredWebhook>(), []]
            const claimed = new StoredWebhook({
              ...next,
              woken: false,
              due_at: lease_until,
              lease_owner: worker,
              fence: next.fence + 1
            })
            return [Option.some(claimed), [[claimed.id, claimed]]]
          }),
        addDelivery: (delivery) =>
          deliveries.modify((rows) => {
            const older = rows
              .filter(({ webhook_id }) => webhook_id === delivery.webhook_id)
              .toSorted((a, b) => (a.id < b.id ? 1 : -1))
              .slice(webhookLimits.deliveries - 1)
            return [undefined, [...older.map(({ id }) => [id, undefined] as const), [delivery.id, delivery]]]
          }),
        deliveries: (id, page) =>
          Effect.map(deliveries.all, (rows) =>
            pageOfAll(
              rows.filter(({ webhook_id }) => webhook_id === id),
              page
            )
          ),
        purge: (before, limit) =>
          deliveries.modify((rows) => {
            const past = rows.filter(({ attempted_at }) => DateTime.isLessThan(attempted_at, before)).slice(0, limit)
            return [past.length, past.map(({ id }) => [id, undefined])]
          })
      })
    })
  )
}
