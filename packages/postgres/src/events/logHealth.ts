/**
 * What operators see of the log on Postgres (docs/design/events.md E38): how full the outbox is, how far this
 * instance's reader is behind, and whether notifications arrive.
 *
 * Pitfall: taking a living subscription for arriving notifications. Behind a pooler LISTEN succeeds and nothing ever
 * comes. So the measure also asks whether the head moved without a notification.
 */
import { eventMetrics, makeRecorder } from "@narthex/core"
import { Effect, Schedule } from "effect"
import { Database } from "../database/Database.ts"
import type { Notice } from "../driver/listening.ts"

const interval = "5 seconds"

interface Sample {
  readonly head: number
  readonly depth: number
  readonly oldest: number
}

/** More than this is not counted: by then the number does not matter. */
const deepest = 100_000

const sample = `
select (select pos from event_head where one) as head,
  (select count(*) from (select seq from event_outbox order by seq limit ${deepest}) waiting) as depth,
  coalesce((select greatest(extract(epoch from clock_timestamp() - at), 0)
    from event_outbox order by seq limit 1), 0)::float8 as oldest`

export const makeLogHealth = Effect.gen(function* () {
  const { query } = yield* Database
  const record = makeRecorder(yield* Effect.context<never>())
  /** The newest position that this instance has read, and the newest that a notification told of. */
  let read: number | undefined
  let told = 0
  /** Whatever was sequenced before a subscription may have gone by: the next sample counts as told. */
  let subscriptions = 0
  let caughtUp = 0
  let before = 0

  const look = Effect.gen(function* () {
    const since = subscriptions
    const [row] = yield* query<Sample>("EventLog.health", sample)
    if (row === undefined) return
    record(eventMetrics.outboxDepth, row.depth)
    record(eventMetrics.outboxOldest, row.oldest)
    record(eventMetrics.tailLag, read === undefined ? 0 : Math.max(0, row.head - read))
    if (caughtUp < since) told = Math.max(told, row.head)
    caughtUp = since
    if (before > told && caughtUp === subscriptions) record(eventMetrics.listenUp, 0)
    before = row.head
  }).pipe(
    // The server is away. Whoever reads the log says so in the log of this process.
    Effect.ignore
  )

  record(eventMetrics.listenUp, 0)
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(interval)))

  return {
    /** The reader has everything up to this position. */
    reader: (pos: number) => {
      read = pos
    },
    noticed: (notice: Notice) => {
      if (notice._tag === "Subscribed") subscriptions += 1
      if (notice._tag === "Notified") told = Math.max(told, Number(notice.payload))
      record(eventMetrics.listenUp, notice._tag === "Lost" ? 0 : 1)
    },
    sequenced: (seconds: number, busy: boolean) => {
      record(eventMetrics.sequence, seconds)
      if (busy) record(eventMetrics.sequenceBusy, 1)
    }
  }
})
