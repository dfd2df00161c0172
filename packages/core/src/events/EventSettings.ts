/**
 * The settings of event streams of one instance; the rules are those of docs/design/events.md. A process that changes
 * some of them provides the whole record: `{ ...defaultEventSettings, … }`.
 */
import { Context, Duration } from "effect"
import { RegionId } from "../Ids.ts"

/** Limits of one instance, step 1 of E24. `streams/StreamLimits.ts` counts against them. */
export interface EventLimits {
  /** Open streams of one principal. */
  readonly streams: number
  /** Open streams of one organization. */
  readonly orgStreams: number
  /** Open streams of the instance. */
  readonly instanceStreams: number
  /** Streams opened per second and principal, refused ones included. */
  readonly opens: number
}

export interface EventSettings {
  /** Events that a ring keeps, at most. All instances must have the same value (E21). `NARTHEX_EVENT_RING`. */
  readonly ringEvents: number
  /** Bytes of frames that a ring keeps, at most. All instances must have the same value (E21). */
  readonly ringBytes: number
  /** Bytes that all rings may take; beyond it, rings without streams are evicted, least recently used first (E21). */
  readonly ringsBytes: number
  /** Bytes of the largest frame of an event; a larger event appears as `error.v1` (E34). */
  readonly eventBytes: number
  /** Bytes of the largest single write, if it holds more than one event (E25). */
  readonly sliceBytes: number
  /** Writes of one flush before it yields to other work (E25). */
  readonly yieldWrites: number
  /** Time of one flush before it yields to other work (E25). */
  readonly yieldAfter: Duration.Duration
  /** Mean time between heartbeats of an idle stream (E36); each is 80 to 120 % of it. */
  readonly heartbeat: Duration.Duration
  /** A stream ends after 80 to 100 % of this time (E28). `NARTHEX_STREAM_MAX_AGE`. */
  readonly maxAge: Duration.Duration
  /** A stream ends this time before its credential expires (E28). */
  readonly expiryMargin: Duration.Duration
  /** A stream whose socket stays full for this time ends with an overflow (E26). */
  readonly stallTimeout: Duration.Duration
  /** Events that a full stream may lag behind (E26); `ring`: as many as the ring holds. */
  readonly maxLagEvents: number | "ring"
  /** Bytes that a full stream may lag behind (E26); `ring`: as many as the ring holds. */
  readonly maxLagBytes: number | "ring"
  /** How long an ended stream may take to send its last bytes before its connection is destroyed (E31). */
  readonly linger: Duration.Duration
  /** How long to wait for this instance to catch up with a client's position (E24, step 4). */
  readonly freshness: Duration.Duration
  /** Mean time between two checks of an open stream's right against storage (E29); each is 80 to 120 % of it. */
  readonly revalidate: Duration.Duration
  /** Replays that run at the same time (E24, step 7). */
  readonly replays: number
  /** Bytes that running replays may have in flight together (E24, step 7). */
  readonly replayBytes: number
  /** A replay blocked for this time leaves the budget: it is an ordinary slow reader from then on (E24, step 7). */
  readonly replayPatience: Duration.Duration
  /** Time between two reads of the log without a hint (E14). */
  readonly poll: Duration.Duration
  /** Events of one read of the log (E14). */
  readonly tailBatch: number
  /** Events that a reader of `EventFeed.events` may lag behind before it loses the oldest. */
  readonly waiterBacklog: number
  /** How long the log keeps events; the newest `ringEvents` of each organization stay longer (E16). `NARTHEX_EVENT_RETENTION`. */
  readonly retention: Duration.Duration
  /** Limits of open streams (E24, step 1); `null`: none. */
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
