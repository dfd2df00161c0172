/**
 * When and from where keys were last used, written in batches.
 *
 * The first use of a key is written at once, because people check whether a new key works. Later uses are collected and
 * written once a minute and at shutdown. A crash loses at most a minute of them.
 *
 * Pitfall: writing on every request. It turns every read of the API into a write.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { becauseOf } from "../../becauseOf.ts"
import { type ApiKeyId, described } from "../../Ids.ts"
import type { ApiKey } from "./ApiKey.ts"
import { ApiKeyStore, type KeyUse } from "./ApiKeyStore.ts"

export class KeyUses extends Context.Service<
  KeyUses,
  {
    /** `from`: the client's address, which is stored as `described` returns it. */
    readonly note: (key: ApiKey, from: string | null) => Effect.Effect<void>
    /**
     * The same at once, without an effect. The effect that it returns writes the first use; `undefined`: nothing is
     * due.
     */
    readonly noteAt: (key: ApiKey, from: string | null, at: DateTime.Utc) => Effect.Effect<void> | undefined
    /** The uses that this process has not written yet. */
    readonly held: (key: ApiKeyId) => KeyUse | undefined
    readonly flush: Effect.Effect<void>
  }
>()("@narthex/core/records/keys/KeyUses") {
  static readonly layer: Layer.Layer<KeyUses, never, ApiKeyStore> = Layer.effect(
    KeyUses,
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const uses = new Map<ApiKeyId, KeyUse>()

      /** Keeps uses that could not be written for the next attempt, unless the key has been used again since. */
      const holdOn = (batch: ReadonlyArray<KeyUse>) =>
        Effect.sync(() => {
          for (const use of batch) if (!uses.has(use.id)) uses.set(use.id, use)
        })

      const write = (batch: ReadonlyArray<KeyUse>) =>
        batch.length === 0
          ? Effect.void
          : Effect.catch(store.touch(batch), (error) =>
              Effect.andThen(
                Effect.logWarning("Last uses of API keys were not written.").pipe(becauseOf(error)),
                holdOn(batch)
              )
            )

      const flush = Effect.suspend(() => {
        const batch = [...uses.values()]
        uses.clear()
        return write(batch)
      })

      yield* Effect.addFinalizer(() => flush)
      yield* Effect.forkScoped(Effect.forever(Effect.delay(flush, "60 seconds")))

      const noteAt = (key: ApiKey, from: string | null, at: DateTime.Utc) => {
        const use = { id: key.id, at, from: from === null ? null : described(from) }
        const first = key.last_used_at === null && !uses.has(key.id)
        uses.set(key.id, use)
        return first ? write([use]) : undefined
      }

      return KeyUses.of({
        note: (key, from) =>
          Effect.clockWith(
            (clock) => noteAt(key, from, DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())) ?? Effect.void
          ),
        noteAt,
        held: (id) => uses.get(id),
        flush
      })
    })
  )
}
