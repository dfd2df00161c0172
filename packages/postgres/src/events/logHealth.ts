/**
 * Metrics of the log on Postgres (docs/design/events.md E38): the depth of the outbox, the lag of this instance's
 * reader, and whether notifications arrive.
 *
 * Pitfall: taking a successful LISTEN as proof that notifications arrive. Behind a pooler LISTEN succeeds and none ever
 * comes. So `narthex_events_listen_up` also falls when the head moved without a notification.
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

/** Where counting the outbox stops, to bound the cost of a sample. */
const maxDepth = 100_000

/** The age is measured by one clock, that of the server: the clock of the instance that emitted an event may be off. */
const sample = `
select (select pos from narthex.event_head where one) as head,
  (select count(*) from (select seq from narthex.event_outbox order by seq limit ${maxDepth}) waiting) as depth,
  coalesce((select greatest(extract(epoch from clock_timestamp() - written_at), 0)
    from narthex.event_outbox order by seq limit 1), 0)::float8 as oldest`

export const makeLogHealth = Effect.gen(function* () {
  const { query } = yield* Database
  const record = makeRecorder(yield* Effect.context<never>())
  /** The newest position that this instance has read, and the newest that a notification has named. */
  let read: number | undefined
  let notified = 0
  /** Whether notifications have arrived since the subscription, and none is known to be missing. */
  let hears = false
  /** Events sequenced before a subscription need no notification: the first sample after it counts as notified. */
  let subscriptions = 0
  let sampledSubscriptions = 0
  let previousHead = 0

  const takeSample = Effect.gen(function* () {
    const since = subscriptions
    const [row] = yield* query<Sample>("EventLog.health", sample)
    if (row === undefined) return
    record(eventMetrics.outboxDepth, row.depth)
    record(eventMetrics.outboxOldest, row.oldest)
    record(eventMetrics.tailLag, read === undefined ? 0 : Math.max(0, row.head - read))
    if (sampledSubscriptions < since) notified = Math.max(notified, row.head)
    sampledSubscriptions = since
    if (previousHead > notified && sampledSubscriptions === subscriptions) {
      hears = false
      record(eventMetrics.listenUp, 0)
    }
    previousHead = row.head
  }).pipe(
    // The reader of the log reports a server that is down.
    Effect.ignore
  )

  record(eventMetrics.listenUp, 0)
  yield* Effect.forkScoped(Effect.repeat(takeSample, Schedule.spaced(interval)))

  return {
    /** The reader has all events up to this position. */
    reader: (pos: number) => {
      read = pos
    },
    /** Whether the next event will be announced by a notification, as far as is known. */
    hears: () => hears,
    noticed: (notice: Notice) => {
      if (notice._tag === "Subscribed") subscriptions += 1
      // Other programs on the database may use the channel, too.
      if (notice._tag === "Notified") notified = Math.max(notified, Number(notice.payload) || 0)
      hears = notice._tag === "Notified"
      record(eventMetrics.listenUp, notice._tag === "Lost" ? 0 : 1)
    },
    /** A call of the sequencing function took so long, and was turned away when `busy`. */
    sequenced: (seconds: number, busy: boolean) => {
      record(eventMetrics.sequence, seconds)
      if (busy) record(eventMetrics.sequenceBusy, 1)
    }
  }
})
