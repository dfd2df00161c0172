import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { IdempotencyStore } from "../src/idempotency/IdempotencyStore.ts"
import { layerMemoryPorts } from "../src/memoryPorts.ts"
import { purgeExpired } from "../src/retention.ts"
import { SessionStore } from "../src/sessions/SessionStore.ts"

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
