/** The contract of `WebhookStore`. Run it against every adapter. */
import { DateTime, Effect, Option } from "effect"
import { makeWebhookDeliveryId, type OrgId, type WebhookId } from "../../src/Ids.ts"
import { StoredWebhook, WebhookDelivery, webhookLimits } from "../../src/records/webhooks/Webhook.ts"
import { WebhookStore } from "../../src/records/webhooks/WebhookStore.ts"
import { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { anOrgId, aProjectId, at, aUser, aWebhookId, firstPage } from "../records.ts"
import { inTransactionsAtOnce, undone } from "../together.ts"

/** An active webhook that no worker holds, due at 0. */
export const aWebhook = (rest: Partial<StoredWebhook> = {}) =>
  new StoredWebhook({
    id: aWebhookId(),
    org_id: anOrgId(),
    project_id: null,
    url: "https://hooks.example.com/ada?for=🦆",
    label: "Ada's 🦆",
    types: [],
    status: "active",
    paused_reason: null,
    position: "01M80M4CEC9X5B7D1F3H5J7K9M",
    failures_count: 0,
    secret: "sealed",
    previous_secret: null,
    previous_secret_expires_at: null,
    created_at: at(0),
    created_by: aUser().ref,
    updated_at: at(0),
    woken: false,
    due_at: at(0),
    lease_owner: null,
    fence: 0,
    ...rest
  })

const added = Effect.fnUntraced(function* (rest: Partial<StoredWebhook> = {}) {
  const webhook = aWebhook(rest)
  yield* (yield* WebhookStore).insert(webhook)
  return webhook
})

const aDelivery = Effect.fnUntraced(function* (webhook_id: WebhookId, seconds: number) {
  const attempted_at = at(seconds)
  return new WebhookDelivery({
    id: yield* makeWebhookDeliveryId(attempted_at),
    webhook_id,
    event_id: "01M80M4CEC9X5B7D1F3H5J7K9M",
    event_type: "operation.updated.v1",
    attempt: 3,
    outcome: "failed",
    status: 503,
    error: "The receiver answered 503.",
    excerpt: "try later 🦆",
    attempted_at,
    duration_ms: 87
  })
})

const logged = Effect.fnUntraced(function* (webhook: WebhookId, seconds: number) {
  const delivery = yield* aDelivery(webhook, seconds)
  yield* (yield* WebhookStore).addDelivery(delivery)
  return delivery
})

const found = ({ id, org_id }: StoredWebhook) =>
  Effect.map(
    Effect.flatMap(WebhookStore, (store) => store.find(org_id, id)),
    Option.getOrUndefined
  )

const claimed = Effect.fnUntraced(function* (seconds: number, worker = "w1", except: ReadonlyArray<OrgId> = []) {
  const store = yield* WebhookStore
  return Option.getOrUndefined(yield* store.claim({ worker, now: at(seconds), lease_until: at(seconds + 60), except }))
})

/** Claims whatever earlier cases have left due, so that a case sees its own webhooks alone. */
const none = Effect.gen(function* () {
  while ((yield* claimed(9_000_000, "other")) !== undefined);
})

export const webhookStoreContract = contract<WebhookStore | Transaction>("WebhookStore", (it) => {
  it("a webhook is read as it was written, by its organization alone", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const webhook = yield* added({
        ...{ project_id: aProjectId(), types: ["a.b.v1", "c.d.v1"], status: "paused", paused_reason: "failing" },
        ...{
          failures_count: 10,
          previous_secret: "former",
          previous_secret_expires_at: at(9),
          lease_owner: "w",
          fence: 7
        }
      })
      assert.deepStrictEqual(yield* found(webhook), webhook)
      assert.deepStrictEqual(yield* store.find(anOrgId(), webhook.id), Option.none())
      assert.deepStrictEqual(yield* store.lock(anOrgId(), webhook.id), Option.none())
    }))

  it("a change under the lock is kept, and that of an undone transaction is not", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const { run } = yield* Transaction
      const webhook = yield* added({ status: "paused" })
      const relabelled = (label: string) =>
        Effect.gen(function* () {
          const row = Option.getOrThrow(yield* store.lock(webhook.org_id, webhook.id))
          yield* store.update(new StoredWebhook({ ...row, label }))
        })
      yield* run(relabelled("new"))
      yield* undone(relabelled("undone"))
      assert.strictEqual((yield* found(webhook))?.label, "new")
    }))

  it("webhooks are listed newest first in pages, without those of other organizations", () =>
    Effect.gen(function* () {
      const { list } = yield* WebhookStore
      const org_id = anOrgId()
      const [first, second] = [yield* added({ org_id }), yield* added({ org_id })]
      yield* added()
      const page = yield* list(org_id, { limit: 1, after: null })
      assert.deepStrictEqual(page.items, [second])
      assert.notStrictEqual(page.next_cursor, null)
      assert.deepStrictEqual((yield* list(org_id, { limit: 1, after: second.id })).items, [first])
    }))

  it("a removed webhook is gone with its log, once", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const [webhook, other] = [yield* added(), yield* added()]
      yield* logged(webhook.id, 1)
      const kept = yield* logged(other.id, 1)
      assert.strictEqual(yield* store.remove(anOrgId(), webhook.id), false)
      assert.strictEqual(yield* store.remove(webhook.org_id, webhook.id), true)
      assert.strictEqual(yield* store.remove(webhook.org_id, webhook.id), false)
      assert.strictEqual(yield* found(webhook), undefined)
      assert.deepStrictEqual((yield* store.deliveries(webhook.id, firstPage)).items, [])
      assert.deepStrictEqual((yield* store.deliveries(other.id, firstPage)).items, [kept])
    }))

  it("the webhooks of an organization are removed together", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const org_id = anOrgId()
      const [first, second, other] = [yield* added({ org_id }), yield* added({ org_id }), yield* added()]
      yield* store.removeAll(org_id)
      assert.deepStrictEqual([yield* found(first), yield* found(second)], [undefined, undefined])
      assert.deepStrictEqual(yield* found(other), other)
    }))

  it("the webhook that has been due longest is claimed first, and not again before its lease ends", () =>
    Effect.gen(function* () {
      yield* none
      const [late, early] = [yield* added({ due_at: at(2_002) }), yield* added({ due_at: at(2_001), woken: true })]
      yield* added({ due_at: at(2_100) })
      yield* added({ due_at: at(2_000), status: "paused" })
      const first = yield* claimed(2_003)
      assert.deepStrictEqual(
        first,
        new StoredWebhook({ ...early, woken: false, due_at: at(2_063), lease_owner: "w1", fence: 1 })
      )
      assert.strictEqual((yield* claimed(2_004, "w2"))?.id, late.id)
      assert.strictEqual(yield* claimed(2_062), undefined)
      const again = yield* claimed(2_063, "w2")
      assert.deepStrictEqual([again?.id, again?.lease_owner, again?.fence], [early.id, "w2", 2])
    }))

  it("the webhooks of excepted organizations are not claimed", () =>
    Effect.gen(function* () {
      yield* none
      const webhook = yield* added({ due_at: at(900) })
      assert.strictEqual(yield* claimed(900, "w1", [webhook.org_id]), undefined)
      assert.strictEqual((yield* claimed(900, "w1", [anOrgId()]))?.id, webhook.id)
    }))

  it("workers that claim at the same time get different webhooks", () =>
    Effect.gen(function* () {
      yield* none
      const org_id = anOrgId()
      const all = yield* Effect.forEach([1, 2, 3, 4, 5], () => added({ org_id, due_at: at(900) }))
      const rounds = yield* Effect.forEach([1, 2, 3, 4, 5], () => inTransactionsAtOnce(4, (n) => claimed(900, `w${n}`)))
      const got = rounds.flat().flatMap((webhook) => (webhook === undefined ? [] : [webhook.id]))
      assert.deepStrictEqual(got.toSorted(), all.map(({ id }) => id).toSorted())
    }))

  it("a woken webhook is due, unless a worker holds it or it waits after a failure", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const org_id = anOrgId()
      const idle = yield* added({ org_id, due_at: at(5_000) })
      const held = yield* added({ org_id, due_at: at(5_000), lease_owner: "w1", fence: 1 })
      const failing = yield* added({ org_id, due_at: at(5_000), failures_count: 2 })
      const paused = yield* added({ org_id, due_at: at(5_000), status: "paused" })
      const other = yield* added({ due_at: at(5_000) })
      yield* store.wake([org_id, anOrgId()], at(10))
      assert.deepStrictEqual(yield* found(idle), new StoredWebhook({ ...idle, woken: true, due_at: at(10) }))
      assert.deepStrictEqual(yield* found(held), new StoredWebhook({ ...held, woken: true }))
      assert.deepStrictEqual(yield* found(failing), new StoredWebhook({ ...failing, woken: true }))
      assert.deepStrictEqual(yield* found(paused), paused)
      assert.deepStrictEqual(yield* found(other), other)
      yield* store.wake([], at(11))
    }))

  it("attempts are listed newest first in pages, and only the newest are kept", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const { id } = yield* added()
      const many = webhookLimits.deliveries + 3
      const all = yield* Effect.forEach(
        Array.from({ length: many }, (_, n) => n),
        (n) => logged(id, n)
      )
      const newest = all.toReversed().slice(0, webhookLimits.deliveries)
      assert.deepStrictEqual((yield* store.deliveries(id, firstPage)).items, newest)
      const page = yield* store.deliveries(id, { limit: 2, after: newest[1]?.id ?? null })
      assert.deepStrictEqual(page.items, newest.slice(2, 4))
    }))

  it("attempts are purged by their age, as many as a batch holds", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const { id } = yield* added()
      const early = [yield* logged(id, -900_003), yield* logged(id, -900_002)]
      const kept = yield* logged(id, -900_000)
      const before = DateTime.addDuration(at(-900_001), "0 seconds")
      assert.strictEqual(yield* store.purge(before, 1), 1)
      assert.strictEqual(yield* store.purge(before, 10), early.length - 1)
      assert.deepStrictEqual((yield* store.deliveries(id, firstPage)).items, [kept])
    }))
})
