/** What an operator may turn on event streams, with the defaults of docs/design/events.md. Settings of one instance. */
import { Context, Duration } from "effect"
import { RegionId } from "../Ids.ts"

export interface EventLimits {
  /** Open streams of one principal. */
  readonly streams: number
  readonly orgStreams: number
  readonly instanceStreams: number
  /** Opened streams per second and principal. */
  readonly opens: number
}

export interface EventSettings {
  /** Events and bytes that a ring keeps. All instances must agree on them. */
  readonly ringEvents: number
  readonly ringBytes: number
  /** What all rings of the instance may take; beyond it, those without streams go, the least used first. */
  readonly ringsBytes: number
  /** The largest frame of an event; a larger one is told as `error.v1`. */
  readonly eventBytes: number
  /** The largest single write. */
  readonly sliceBytes: number
  /** What a flush may write, and how long it may take, before others get their turn. */
  readonly yieldWrites: number
  readonly yieldAfter: Duration.Duration
  readonly heartbeat: Duration.Duration
  /** A stream ends after 80 to 100 % of this, or `expiryMargin` before its credential does. */
  readonly maxAge: Duration.Duration
  readonly expiryMargin: Duration.Duration
  /** A reader that takes nothing for so long, or is so far behind, is dropped. `ring`: as much as the ring holds. */
  readonly stallTimeout: Duration.Duration
  readonly maxLagEvents: number | "ring"
  readonly maxLagBytes: number | "ring"
  /** How long an ended stream may take to send its last bytes. */
  readonly linger: Duration.Duration
  /** How long a client that is ahead of this instance is waited for. */
  readonly freshness: Duration.Duration
  /** How often a live principal's right is looked up again. */
  readonly revalidate: Duration.Duration
  /** Replays at a time, and bytes that they may have in flight together. */
  readonly replays: number
  readonly replayBytes: number
  /** After being blocked for so long a replay no longer counts: it has become an ordinary slow reader. */
  readonly replayPatience: Duration.Duration
  readonly poll: Duration.Duration
  readonly tailBatch: number
  /** How many events a reader of `EventFeed.events` may fall behind before it loses the oldest. */
  readonly waiterBacklog: number
  /** How long the durable log keeps events; the newest `ringEvents` of each organization stay longer. */
  readonly retention: Duration.Duration
  /** `null`: no limits. */
  readonly limits: EventLimits | null
}

export const defaultEventLimits: EventLimits = { streams: 100, orgStreams: 1_000, instanceStreams: 10_000, opens: 50 }

export const defaultEventSettings: EventSettings = {
  ringEvents: 1024,
  ringBytes: 16 * 1024 * 1024,
  ringsBytes: 256 * 1024 * 1024,
  eventBytes: 64 * 1024,
  sliceBytes: 64 * 1024,
  yieldWrites: 512,
  yieldAfter: Duration.millis(2),
  heartbeat: Duration.seconds(15),
  maxAge: Duration.minutes(30),
  expiryMargin: Duration.seconds(5),
  stallTimeout: Duration.seconds(30),
  maxLagEvents: "ring",
  maxLagBytes: "ring",
  linger: Duration.seconds(5),
  freshness: Duration.seconds(3),
  revalidate: Duration.seconds(60),
  replays: 64,
  replayBytes: 64 * 1024 * 1024,
  replayPatience: Duration.seconds(5),
  poll: Duration.millis(250),
  tailBatch: 500,
  waiterBacklog: 1_024,
  retention: Duration.hours(24),
  limits: defaultEventLimits
}

export const EventSettings = Context.Reference<EventSettings>("@narthex/core/events/EventSettings", {
  defaultValue: () => defaultEventSettings
})

/** The region that this instance emits events from (`NARTHEX_REGION`). */
export const EmittingRegion = Context.Reference<RegionId>("@narthex/core/events/EmittingRegion", {
  defaultValue: () => RegionId.make("local")
})
