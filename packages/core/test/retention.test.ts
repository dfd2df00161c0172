import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerMemoryPorts } from "../src/memoryPorts.ts"
import { ClientRefusalStore } from "../src/records/allowlist/ClientRefusalStore.ts"
import { IdempotencyStore } from "../src/records/idempotency/IdempotencyStore.ts"
import { EndpointStore } from "../src/records/projects/EndpointStore.ts"
import { SessionStore } from "../src/records/sessions/SessionStore.ts"
import { purgeExpired } from "../src/retention.ts"
import { ClientRefusals } from "../src/services/allowlist/ClientRefusals.ts"
import { aBranchId, anEndpoint, aProjectId, firstPage } from "../testing/records.ts"

const call = { owner: "ada", key: "once", fingerprint: "POST /v1/projects" }

describe("purgeExpired", () => {
  it.effect("an idempotency record is purged at its expiry and not before", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const begin = Effect.gen(function* () {
        const now = yield* DateTime.now
        const later = (hours: number) => DateTime.add(now, { hours })
        return yield* store.begin(call, { now, lease_until: later(24), expires_at: later(24) })
      })
      assert.strictEqual((yield* begin)._tag, "fresh")
      yield* TestClock.adjust("23 hours")
      yield* purgeExpired
      assert.strictEqual((yield* begin)._tag, "in_progress")
      yield* TestClock.adjust("1 hour")
      yield* purgeExpired
      assert.strictEqual((yield* begin)._tag, "fresh")
    }).pipe(Effect.provide(layerMemoryPorts))
  )

  it.effect("a refused client is listed for seven days after its last refusal", () =>
    Effect.gen(function* () {
      const endpoint = anEndpoint(aProjectId(), aBranchId())
      yield* (yield* EndpointStore).put(endpoint)
      const refused = { endpoint_id: endpoint.id, address: "192.0.2.7", role: null, count: 1, first_ms: 0, last_ms: 0 }
      const report = (sequence: number) =>
        Effect.flatMap(ClientRefusals, ({ note }) =>
          note({ proxy_id: "p-1", sequence, refusals: [{ ...refused, reason: "address_not_listed" }] })
        )
      const listed = Effect.flatMap(ClientRefusalStore, (store) =>
        Effect.map(store.list(endpoint.project_id, null, firstPage), ({ items }) => items.map(({ count }) => count))
      )
      yield* report(1)
      yield* TestClock.adjust("6 days")
      yield* report(2)
      yield* TestClock.adjust("7 days")
      yield* purgeExpired
      assert.deepStrictEqual(yield* listed, [2])
      yield* TestClock.adjust("1 second")
      yield* purgeExpired
      assert.deepStrictEqual(yield* listed, [])
    }).pipe(Effect.provide(Layer.provideMerge(ClientRefusals.layer, layerMemoryPorts)))
  )

  it.effect("a spent id token is retained until it expires", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      yield* store.spend("digest", DateTime.add(yield* DateTime.now, { hours: 1 }))
      yield* purgeExpired
      assert.isTrue(yield* store.isSpent("digest"))
      yield* TestClock.adjust("61 minutes")
      yield* purgeExpired
      assert.isFalse(yield* store.isSpent("digest"))
    }).pipe(Effect.provide(layerMemoryPorts))
  )
})
