/**
 * `narthex-server keys rotate`: makes a new signing key and sets the end of the old ones.
 *
 * The new key is published ten minutes before it signs, so that every instance and every cache of the key set knows it by
 * then; until then the old key signs. The old key stays published for 12 hours and 15 minutes after that, because an
 * expired JWT is a refresh credential for as long as its session lasts.
 */
import { SigningKeyStore } from "@narthex/core"
import { DateTime, Duration, Effect, Option } from "effect"
import { makeSigningKey, openSigningKey, SigningKeysUnreadable } from "./WrappedKey.ts"

const publishedBeforeUse = Duration.minutes(10)
const keptAfterUse = Duration.sum(Duration.hours(12), Duration.minutes(15))

export interface Rotation {
  readonly kid: string
  /** When the new key begins to sign. */
  readonly active_from: DateTime.Utc
  /** Until when tokens of the old keys are valid. `null`: there was no old key. */
  readonly old_published_until: DateTime.Utc | null
}

/** Refused when the master secret does not open the stored keys: instances could not read a key wrapped with another. */
export const rotateSigningKeys = Effect.fn("rotateSigningKeys")(function* () {
  const store = yield* SigningKeyStore
  const now = yield* DateTime.now
  const rows = yield* store.published(now)
  const unreadable = yield* Effect.filter(rows, (row) => Effect.map(openSigningKey(row), Option.isNone))
  if (unreadable.length > 0) return yield* new SigningKeysUnreadable({ kids: unreadable.map((row) => row.kid) })

  if (rows.length === 0) {
    const first = yield* makeSigningKey(now)
    if (yield* store.addFirst(first)) return rotation(first.kid, now, null)
  }
  const active_from = DateTime.addDuration(now, publishedBeforeUse)
  const until = DateTime.addDuration(active_from, keptAfterUse)
  const key = yield* makeSigningKey(active_from)
  yield* store.rotate(key, until)
  return rotation(key.kid, active_from, until)
})

const rotation = (kid: string, active_from: DateTime.Utc, old_published_until: DateTime.Utc | null): Rotation => ({
  kid,
  active_from,
  old_published_until
})
