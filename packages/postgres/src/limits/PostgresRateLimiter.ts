/**
 * `RateLimiter` on Postgres: one statement for each `take`. It weighs the windows in whole numbers, by the same formula
 * as the core, and the core computes the result from the counters that the statement returns.
 *
 * A subject that is over its limit is refused by a read: counts only grow within a window. Otherwise each refusal would
 * lock the row and write to the log, and the calls of a flood would wait for each other.
 */
import { countsNow, RateLimiter, restOfWindow, takenFrom, type WindowCounts, windowOf } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"

/** The counters of the row, moved to the window of the take. A later window, written by a faster clock, is kept. */
const before = `case when mine."window" >= $3 then mine.taken_before when mine."window" = $3 - 1 then mine.taken else 0 end`
const present = `case when mine."window" >= $3 then mine.taken else 0 end`

const fits = `(${present} + $4) * $6::bigint + ${before} * $7::bigint <= $5::bigint * $6`

const take = `
with mine as (
  select "window", taken, taken_before from narthex.rate_limit where limit_name = $1 and subject = $2
), took as (
  insert into narthex.rate_limit as mine (limit_name, subject, "window", taken, taken_before, stale_at)
  select $1, $2, $3::bigint, $4::bigint, 0, $8
  where $4::bigint <= $5::bigint and not exists (select 1 from mine where not (${fits}))
  on conflict (limit_name, subject) do update
  set "window" = greatest(mine."window", $3), taken = ${present} + $4, taken_before = ${before},
    stale_at = greatest(mine.stale_at, $8)
  where ${fits}
  returning "window", taken, taken_before
)
select true as allowed, took.* from took
union all
select false, mine.* from mine where not exists (select 1 from took)`

const make = Effect.gen(function* () {
  const { query } = yield* Database
  return RateLimiter.of({
    take: (wanted) =>
      Effect.gen(function* () {
        const length = wanted.window_seconds * 1000
        const window = windowOf(wanted)
        const [row] = yield* query<WindowCounts & { readonly allowed: boolean }>("RateLimiter.take", take, [
          wanted.limit_name,
          wanted.subject,
          window,
          wanted.cost,
          wanted.limit,
          length,
          restOfWindow(wanted),
          new Date((window + 2) * length)
        ])
        // No row: the cost exceeds the limit by itself, or a concurrent first take was not visible yet.
        return takenFrom(wanted, row?.allowed === true, countsNow(wanted, row))
      }),
    purge: (now) =>
      Effect.asVoid(
        query("RateLimiter.purge", "delete from narthex.rate_limit where stale_at <= $1", [DateTime.toDateUtc(now)])
      )
  })
})

export const PostgresRateLimiter = {
  layer: Layer.effect(RateLimiter, make)
}
