/**
 * The signing keys that this instance knows: every published key, unwrapped, and read again when they may have changed.
 *
 * Keys are published ten minutes before their first use and the ring is read every minute, so an unknown `kid` is nearly
 * always a forgery. It still causes a read, but at most one in five seconds, however many requests send it. While the
 * store cannot be read, the known keys stay in use. At the start every key must unwrap; a key that appears later and does
 * not unwrap is skipped, because no instance of this platform can have signed with it.
 */
import { becauseOf, SigningKeyStore, type StorageError } from "@narthex/core"
import { Array, Clock, DateTime, Effect, Option, Semaphore } from "effect"
import { MasterSecret } from "../MasterSecret.ts"
import { makeSigningKey, type OpenedKey, openSigningKey, SigningKeysUnreadable } from "./WrappedKey.ts"

const freshMillis = 60_000
const coolDownMillis = 5_000

export interface SigningKeyRing {
  /** Every key that is published at present. */
  readonly published: Effect.Effect<ReadonlyArray<OpenedKey>>
  /** The key with this `kid`, if it is known and still published. */
  readonly find: (kid: string) => Effect.Effect<Option.Option<OpenedKey>, StorageError>
  /** The key that signs at present. */
  readonly signing: Effect.Effect<OpenedKey>
}

/** Unwraps the keys in the store; if there are none, it makes the first. */
export const makeSigningKeyRing = Effect.fn("makeSigningKeyRing")(function* () {
  const store = yield* SigningKeyStore
  const master = yield* MasterSecret
  const open = (row: Parameters<typeof openSigningKey>[0]) =>
    Effect.provideService(openSigningKey(row), MasterSecret, master)

  const first = Effect.gen(function* () {
    const rows = yield* store.published(yield* DateTime.now)
    if (rows.length > 0) return rows
    // Another instance may be faster; its key is then in the store.
    yield* store.addFirst(yield* makeSigningKey(yield* DateTime.now))
    return yield* store.published(yield* DateTime.now)
  })

  const rows = yield* first
  const opened = yield* Effect.forEach(rows, open)
  const unreadable = rows.filter((_, index) => Option.isNone(opened[index] ?? Option.none()))
  const [key, ...others] = Array.getSomes(opened)
  if (unreadable.length > 0 || key === undefined) {
    return yield* new SigningKeysUnreadable({ kids: unreadable.map((row) => row.kid) })
  }

  let known: Array.NonEmptyReadonlyArray<OpenedKey> = [key, ...others]
  let tried_at = yield* Clock.currentTimeMillis
  const lock = yield* Semaphore.make(1)

  const read = Effect.gen(function* () {
    const rows = yield* store.published(yield* DateTime.now)
    const opened = yield* Effect.forEach(rows, (row) => Effect.tap(open(row), warnIfUnreadable(row.kid)))
    const [key, ...others] = Array.getSomes(opened)
    if (key !== undefined) known = [key, ...others]
  })

  /** Reads run one at a time, and not when the last attempt is younger than this. */
  const readUnlessYoungerThan = (millis: number) =>
    Effect.gen(function* () {
      if ((yield* Clock.currentTimeMillis) - tried_at < millis) return
      yield* lock.withPermits(1)(
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          if (now - tried_at < millis) return
          tried_at = now
          yield* read
        })
      )
    })

  const validNow = Effect.clockWith((clock) => {
    const now = clock.currentTimeMillisUnsafe()
    return Effect.succeed(
      known.filter(({ retired_until }) => retired_until === null || DateTime.toEpochMillis(retired_until) > now)
    )
  })
  const readAgain = readUnlessYoungerThan(freshMillis).pipe(
    Effect.catch((error) =>
      Effect.logWarning("The signing keys cannot be read again; those known go on.").pipe(becauseOf(error))
    )
  )
  const published = Effect.clockWith((clock) =>
    // Each request asks for the keys, and the ring is nearly always fresh.
    clock.currentTimeMillisUnsafe() - tried_at < freshMillis ? validNow : Effect.andThen(readAgain, validNow)
  )

  const named = (kid: string) => Effect.map(published, (keys) => Array.findFirst(keys, (key) => key.kid === kid))

  const ring: SigningKeyRing = {
    published,
    find: Effect.fnUntraced(function* (kid) {
      const key = yield* named(kid)
      if (Option.isSome(key)) return key
      yield* readUnlessYoungerThan(coolDownMillis)
      return yield* named(kid)
    }),
    signing: Effect.gen(function* () {
      yield* published
      return newestInUse(known, yield* DateTime.now)
    })
  }
  return ring
})

/** The youngest active key. If clocks differ and none is active yet, the first that will be. */
function newestInUse(keys: Array.NonEmptyReadonlyArray<OpenedKey>, now: DateTime.Utc): OpenedKey {
  return keys.reduce((best, key) => {
    const waits = DateTime.isGreaterThan(key.active_from, now)
    const bestWaits = DateTime.isGreaterThan(best.active_from, now)
    const younger = DateTime.isGreaterThan(key.active_from, best.active_from)
    return bestWaits ? (waits && younger ? best : key) : !waits && younger ? key : best
  })
}

const warnIfUnreadable = (kid: string) => (key: Option.Option<OpenedKey>) =>
  Option.isSome(key)
    ? Effect.void
    : Effect.logWarning("A signing key in the store does not open with the master secret and is skipped.", { kid })

/** Whether the store has signing keys: if it has, a missing master secret must not be replaced by a new one. */
export const signingKeysExist: Effect.Effect<boolean, StorageError, SigningKeyStore> = Effect.gen(function* () {
  return (yield* (yield* SigningKeyStore).published(yield* DateTime.now)).length > 0
})
