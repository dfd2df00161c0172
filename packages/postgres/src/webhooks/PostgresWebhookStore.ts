/** `WebhookStore` on Postgres. A claim skips rows that another transaction has locked. */
import { pageOf, StoredWebhook, WebhookDelivery, WebhookStore, webhookLimits } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { olderThan } from "../database/keyset.ts"
import { tableOf } from "../database/tableOf.ts"

/** The rows are locked in the order of their ids: two instances may wake the same ones. */
const wake = `
update narthex.webhook w
set woken = true,
  due_at = case when w.lease_owner is null and w.failures_count = 0 then least(w.due_at, $2) else w.due_at end
from (
  select id from narthex.webhook
  where org_id = any($1::text[]) and status = 'active' and not woken order by id for update) it
where w.id = it.id`

const claim = `
update narthex.webhook w
set woken = false, due_at = $3, lease_owner = $1, fence = w.fence + 1
where w.id = (
  select id from narthex.webhook
  where status = 'active' and due_at <= $2 and org_id <> all($4::text[])
  order by due_at limit 1 for update skip locked)
returning w.*`

const trim = `
delete from narthex.webhook_delivery where webhook_id = $1 and id <= (
  select id from narthex.webhook_delivery where webhook_id = $1 order by id desc offset $2 limit 1)`

const make = Effect.gen(function* () {
  const database = yield* Database
  const webhooks = tableOf(database, "webhook", StoredWebhook)
  const deliveries = tableOf(database, "webhook_delivery", WebhookDelivery)

  return WebhookStore.of({
    insert: (webhook) =>
      Effect.asVoid(webhooks.write("WebhookStore.insert", webhook, `${webhooks.insertInto} ${webhooks.record("$1")}`)),
    find: (org, id) =>
      webhooks.first("WebhookStore.find", "select * from narthex.webhook where id = $1 and org_id = $2", [id, org]),
    lock: (org, id) =>
      webhooks.first("WebhookStore.lock", "select * from narthex.webhook where id = $1 and org_id = $2 for update", [
        id,
        org
      ]),
    update: (webhook) =>
      Effect.asVoid(
        webhooks.write("WebhookStore.update", webhook, `update narthex.webhook ${webhooks.setTo("$1")} where id = $2`, [
          webhook.id
        ])
      ),
    remove: (org, id) =>
      Effect.map(
        database.query(
          "WebhookStore.remove",
          "delete from narthex.webhook where id = $1 and org_id = $2 returning id",
          [id, org]
        ),
        (rows) => rows.length > 0
      ),
    removeAll: (org) =>
      Effect.asVoid(database.query("WebhookStore.removeAll", "delete from narthex.webhook where org_id = $1", [org])),
    list: (org, page) =>
      Effect.map(
        webhooks.all(
          "WebhookStore.list",
          "select * from narthex.webhook where org_id = $1 and id < $2 order by id desc limit $3",
          [org, olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      ),
    wake: (orgs, now) => Effect.asVoid(database.query("WebhookStore.wake", wake, [orgs, DateTime.toDateUtc(now)])),
    claim: ({ except, lease_until, now, worker }) =>
      webhooks.first("WebhookStore.claim", claim, [
        worker,
        DateTime.toDateUtc(now),
        DateTime.toDateUtc(lease_until),
        except
      ]),
    addDelivery: (delivery) =>
      Effect.andThen(
        deliveries.write("WebhookStore.addDelivery", delivery, `${deliveries.insertInto} ${deliveries.record("$1")}`),
        Effect.asVoid(database.query("WebhookStore.addDelivery", trim, [delivery.webhook_id, webhookLimits.deliveries]))
      ),
    deliveries: (id, page) =>
      Effect.map(
        deliveries.all(
          "WebhookStore.deliveries",
          "select * from narthex.webhook_delivery where webhook_id = $1 and id < $2 order by id desc limit $3",
          [id, olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      ),
    purge: (before, limit) =>
      Effect.map(
        database.query(
          "WebhookStore.purge",
          `delete from narthex.webhook_delivery where id = any (array(
             select id from narthex.webhook_delivery where attempted_at < $1 order by attempted_at limit $2
             for update skip locked)) returning 1`,
          [DateTime.toDateUtc(before), limit]
        ),
        (rows) => rows.length
      )
  })
})

export const PostgresWebhookStore = { layer: Layer.effect(WebhookStore, make) }
