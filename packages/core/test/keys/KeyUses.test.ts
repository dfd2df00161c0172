import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { ApiKey } from "../../src/records/keys/ApiKey.ts"
import { ApiKeyStore, type KeyUse } from "../../src/records/keys/ApiKeyStore.ts"
import { KeyUses } from "../../src/records/keys/KeyUses.ts"
import { StorageError } from "../../src/StorageError.ts"
import { ApiKeys } from "../../src/services/keys/ApiKeys.ts"
import { aStoredKey } from "../../testing/records.ts"
import { People } from "../memory/core.ts"
import { onMemory } from "../onMemory.ts"

/** A store that records its writes, and fails while `broken.now` is set. */
const counting = Effect.gen(function* () {
  const writes: Array<ReadonlyArray<KeyUse>> = []
  const broken = { now: false }
  const Counting = Layer.effect(
    ApiKeyStore,
    Effect.map(ApiKeyStore, (store) => ({
      ...store,
      touch: (uses: ReadonlyArray<KeyUse>) =>
        Effect.suspend(() => {
          if (broken.now) return Effect.fail(new StorageError({ operation: "touch", cause: "down" }))
          writes.push(uses)
          return store.touch(uses)
        })
    }))
  ).pipe(Layer.provide(onMemory(ApiKeyStore.layerMemory)))
  return { broken, writes, layer: KeyUses.layer.pipe(Layer.provideMerge(Counting)) }
})

describe("KeyUses", () => {
  it.effect("the first use of a key is written at once, later uses once a minute", () =>
    Effect.gen(function* () {
      const { layer, writes } = yield* counting
      yield* Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const uses = yield* KeyUses
        const row = aStoredKey()
        yield* store.insert(row)
        const now = Effect.map(store.find(row.org_id, row.key.id), (it) => Option.getOrThrow(it).key)
        yield* uses.note(row.key, "203.0.113.1")
        assert.strictEqual((yield* now).last_used_from, "203.0.113.1")
        for (let n = 2; n <= 50; n++) {
          yield* TestClock.adjust("1 second")
          yield* uses.note(yield* now, `203.0.113.${n}`)
        }
        assert.strictEqual(writes.length, 1)
        assert.strictEqual(uses.held(row.key.id)?.from, "203.0.113.50")
        yield* TestClock.adjust("60 seconds")
        assert.strictEqual(writes.length, 2)
        const written = yield* now
        assert.strictEqual(written.last_used_from, "203.0.113.50")
        assert.strictEqual(written.last_used_at?.epochMilliseconds, 49_000)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(writes.length, 2, "no write without a new use")
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("uses that are still held are written on shutdown", () =>
    Effect.gen(function* () {
      const { layer, writes } = yield* counting
      const row = aStoredKey()
      yield* Effect.gen(function* () {
        const uses = yield* KeyUses
        yield* uses.note(row.key, "203.0.113.1")
        yield* TestClock.adjust("1 second")
        yield* uses.note(row.key, "203.0.113.2")
      }).pipe(Effect.provide(layer))
      assert.strictEqual(writes.at(-1)?.[0]?.from, "203.0.113.2")
    })
  )

  it.effect("a failing store fails no request, and uses are written once the store recovers", () =>
    Effect.gen(function* () {
      const { broken, layer, writes } = yield* counting
      yield* Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const uses = yield* KeyUses
        const row = aStoredKey()
        yield* store.insert(row)
        broken.now = true
        yield* uses.note(row.key, "203.0.113.1")
        yield* TestClock.adjust("2 minutes")
        broken.now = false
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(writes.length, 1)
        const { key } = Option.getOrThrow(yield* store.find(row.org_id, row.key.id))
        assert.strictEqual(key.last_used_at?.epochMilliseconds, 0)
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("a listing shows the use held in memory, unless another instance wrote a later one", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const uses = yield* KeyUses
      const { key } = aStoredKey()
      yield* uses.note(key, "203.0.113.1")
      assert.strictEqual(keys.withUse(key).last_used_from, "203.0.113.1")
      const later = new ApiKey({ ...key, last_used_at: DateTime.makeUnsafe(1), last_used_from: "203.0.113.2" })
      assert.strictEqual(keys.withUse(later).last_used_from, "203.0.113.2")
    }).pipe(Effect.provide(People))
  )
})
