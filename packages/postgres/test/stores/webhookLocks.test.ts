/** Workers, wakes and changes of webhooks that meet on Postgres. Each order is forced. Holds docs/design/webhooks.md H2. */
import { assert, layer } from "@effect/vitest"
import { StoredWebhook, WebhookStore } from "@narthex/core"
import { anOrgId, at, aWebhook } from "@narthex/core/testing"
import { Effect, Option } from "effect"
import { overlapping } from "../support/overlapping.ts"
import { onPostgres } from "./onPostgres.ts"

const inserted = Effect.fnUntraced(function* (rest: Partial<StoredWebhook> = {}) {
  const webhook = aWebhook(rest)
  yield* (yield* WebhookStore).insert(webhook)
  return webhook
})

const found = ({ id, org_id }: StoredWebhook) =>
  Effect.flatMap(WebhookStore, (store) => Effect.map(store.find(org_id, id), Option.getOrUndefined))

const claim = (seconds: number) =>
  Effect.flatMap(WebhookStore, (store) =>
    Effect.map(
      store.claim({ worker: "w", now: at(seconds), lease_until: at(seconds + 60), except: [] }),
      Option.getOrUndefined
    )
  )

/** Changes the webhook as a worker or a caller does: under its lock, the whole record. */
const changed = ({ id, org_id }: StoredWebhook, rest: Partial<StoredWebhook>) =>
  Effect.gen(function* () {
    const store = yield* WebhookStore
    const row = Option.getOrUndefined(yield* store.lock(org_id, id))
    if (row !== undefined) yield* store.update(new StoredWebhook({ ...row, ...rest }))
    return row !== undefined
  })

layer(onPostgres, { excludeTestServices: true })("webhooks on Postgres", (it) => {
  it.effect("a wake while the worker gives the webhook back is kept, in either order", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const held = { due_at: at(60), lease_owner: "w", fence: 1 }
      const idle = { due_at: at(5_000), lease_owner: null }
      const first = yield* inserted(held)
      const wake = ({ org_id }: StoredWebhook) => store.wake([org_id], at(10))
      assert.isTrue((yield* overlapping(changed(first, idle), wake(first))).waited)
      assert.deepInclude(yield* found(first), { woken: true, due_at: at(10) })
      const second = yield* inserted(held)
      assert.isTrue((yield* overlapping(wake(second), changed(second, idle))).waited)
      assert.deepInclude(yield* found(second), { woken: true, lease_owner: null })
      yield* Effect.forEach([first, second], ({ id, org_id }) => store.remove(org_id, id))
    })
  )

  it.effect("a claim does not wait for a webhook that a transaction is changing, and takes the next", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const [early, late] = [yield* inserted({ due_at: at(1) }), yield* inserted({ due_at: at(2) })]
      const { second, waited } = yield* overlapping(changed(early, { label: "new" }), claim(3))
      assert.deepStrictEqual([second?.id, waited], [late.id, false])
      assert.deepInclude(yield* claim(3), { id: early.id, label: "new" })
      yield* Effect.forEach([early, late], ({ id, org_id }) => store.remove(org_id, id))
    })
  )

  it.effect("a removal waits for the record of an attempt, and a record after the removal finds nothing", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const first = yield* inserted()
      const removal = ({ id, org_id }: StoredWebhook) => store.remove(org_id, id)
      const { second, waited } = yield* overlapping(changed(first, { failures_count: 1 }), removal(first))
      assert.deepStrictEqual([second, waited], [true, true])
      const other = yield* inserted()
      assert.isFalse((yield* overlapping(removal(other), changed(other, { failures_count: 1 }))).second)
      assert.strictEqual(yield* found(other), undefined)
    })
  )

  it.effect("two wakes of the same organizations do not deadlock", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const orgs = [anOrgId(), anOrgId(), anOrgId()]
      yield* Effect.forEach(orgs, (org_id) => inserted({ org_id, due_at: at(5_000) }))
      const wakes = Array.from({ length: 20 }, (_, n) => store.wake(n % 2 === 0 ? orgs : orgs.toReversed(), at(10)))
      yield* Effect.all(wakes, { concurrency: "unbounded" })
      const all = yield* Effect.forEach(orgs, (org_id) => store.list(org_id, { limit: 10, after: null }))
      assert.isTrue(all.every(({ items }) => items.every(({ woken }) => woken)))
    })
  )
})
