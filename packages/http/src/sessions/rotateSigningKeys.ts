/**
 * `narthex-server keys rotate`: a new signing key, and an end for the old ones.
 *
 * The new key is published ten minutes before it signs, so that every instance and whoever caches our key set knows it
 * by then. Until then the old one signs on. It stays published 12 hours and 15 minutes after that, because an expired
 * JWT is still a refresh credential for as long as its session lasts.
 */
import { SigningKeyStore } from "@narthex/core"
import { DateTime, Duration, Effect, Option } from "effect"
import { makeSigningKey, openSigningKey, SigningKeysUnreadable } from "./WrappedKey.ts"

const publishedBeforeUse = Duration.minutes(10)
const keptAfterUse = Duration.sum(Duration.hours(12), Duration.minutes(15))

export interface Rotation {
  readonly kid: string
  /** From then on the new key signs. */
  readonly active_from: DateTime.Utc
  /** Until then tokens of the old keys are good. `null`: there was none. */
  readonly old_published_until: DateTime.Utc | null
}

/** Refused when the master secret does not open the keys that are there: a key wrapped with another would lock everybody out. */
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
