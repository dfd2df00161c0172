/**
 * Port: limits on how often something may happen, counted over all instances.
 *
 * Each subject has two counters, for the current window and the previous one. The previous one counts in proportion to
 * the part of it that the sliding window still covers. So a burst at a boundary cannot take twice the limit, and a
 * subject costs one row. Names, limits and headers belong to the callers.
 *
 * Pitfall: calling `take` inside a transaction. A rollback would give back what was taken.
 */
import { Context, type DateTime, Effect, Layer, Option } from "effect"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"

export interface Take {
  readonly limit_name: string
  /** The address, user or session that is counted. */
  readonly subject: string
  /** At most this much in any `window_seconds`; both are whole numbers. */
  readonly limit: number
  readonly window_seconds: number
  readonly now: DateTime.Utc
  readonly cost: number
}

export interface Taken {
  readonly allowed: boolean
  /** How much is left now. */
  readonly remaining: number
  /**
   * Refused: whole seconds until the same call would be allowed. Allowed: until the current window ends. At least 1.
   */
  readonly reset_seconds: number
}

/** The cost taken in a window and in the previous one. Windows are numbered from 1970. */
export interface WindowCounts {
  readonly window: number
  readonly taken: number
  readonly taken_before: number
}

const windowMillis = (take: Take) => take.window_seconds * 1000

/** The number of the window that `now` is in. */
export const windowOf = (take: Take): number => Math.floor(take.now.epochMilliseconds / windowMillis(take))

/** Milliseconds until the window ends, which is how much of the previous one the sliding window still covers. */
export const restOfWindow = (take: Take): number =>
  windowMillis(take) - (take.now.epochMilliseconds % windowMillis(take))

/** The counts in the window of `take`. A window that lies ahead, by the clock of another instance, is kept. */
export const countsNow = (take: Take, counts: WindowCounts | undefined): WindowCounts => {
  const window = windowOf(take)
  if (counts === undefined || counts.window < window - 1) return { window, taken: 0, taken_before: 0 }
  return counts.window === window - 1 ? { window, taken: 0, taken_before: counts.taken } : counts
}

/** The cost taken, times the milliseconds of a window: whole numbers, so that every adapter computes the same. */
const weight = (take: Take, { taken, taken_before }: WindowCounts): number =>
  taken * windowMillis(take) + taken_before * restOfWindow(take)

export const isAllowed = (take: Take, counts: WindowCounts): boolean =>
  weight(take, counts) + take.cost * windowMillis(take) <= take.limit * windowMillis(take)

/** Milliseconds until `cost` fits when nothing else is taken. A cost that can never fit waits two windows. */
const wait = (take: Take, { taken, taken_before }: WindowCounts): number => {
  const length = windowMillis(take)
  const room = Math.max(0, take.limit - take.cost)
  return taken <= room && taken_before > 0
    ? restOfWindow(take) - Math.floor(((room - taken) * length) / taken_before)
    : restOfWindow(take) + length - (taken === 0 ? 0 : Math.floor((room * length) / taken))
}

/** The answer, from the counts after the call. */
export const takenFrom = (take: Take, allowed: boolean, counts: WindowCounts): Taken => ({
  allowed,
  remaining: Math.max(0, Math.floor(take.limit - weight(take, counts) / windowMillis(take))),
  reset_seconds: Math.max(1, Math.ceil((allowed ? restOfWindow(take) : wait(take, counts)) / 1000))
})

export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /** Takes all of `cost` if it fits, else nothing. A refused call does not count. Atomic under parallel calls. */
    readonly take: (take: Take) => Effect.Effect<Taken, StorageError>
    /** Purges subjects whose counts no longer matter at `now`. */
    readonly purge: (now: DateTime.Utc) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/limits/RateLimiter") {
  static readonly layerMemory: Layer.Layer<RateLimiter, never, MemoryStorage> = Layer.effect(
    RateLimiter,
    Effect.gen(function* () {
      const { table, transaction } = yield* MemoryStorage
      const counters = table<WindowCounts & { readonly id: string; readonly stale_at: number }>("rate_limit")
      return RateLimiter.of({
        take: (take) =>
          transaction(
            Effect.gen(function* () {
              const id = JSON.stringify([take.limit_name, take.subject])
              const before = countsNow(take, Option.getOrUndefined(yield* counters.get(id)))
              if (!isAllowed(take, before)) return takenFrom(take, false, before)
              const after = { ...before, taken: before.taken + take.cost }
              yield* counters.put(id, { ...after, id, stale_at: (after.window + 2) * windowMillis(take) })
              return takenFrom(take, true, after)
            })
          ),
        purge: (now) =>
          counters.modify((rows) => [
            undefined,
            rows.filter((row) => row.stale_at <= now.epochMilliseconds).map((row) => [row.id, undefined])
          ])
      })
    })
  )
}
