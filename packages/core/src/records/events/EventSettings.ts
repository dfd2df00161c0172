/**
 * The settings of event streams of one instance; the rules are those of docs/design/events.md. A process that changes
 * some of them provides the whole record: `{ ...defaultEventSettings, … }`.
 */
import { Context, Duration } from "effect"
import { RegionId } from "../../Ids.ts"

/** Limits of one instance, step 1 of E24. `streams/StreamLimits.ts` counts against them. */
export interface EventLimits {
  /** Open streams of one principal. */
  readonly streams: number
  /** Open streams of one organization. */
  readonly org_streams: number
  /** Open streams of the instance. */
  readonly instance_streams: number
  /** Streams opened per second and principal, refused ones included. */
  readonly opens: number
}

export interface EventSettings {
  /** Events that a ring keeps, at most. All instances must have the same value (E21). */
  readonly ring_events: number
  /** Bytes of frames that a ring keeps, at most. All instances must have the same value (E21). */
  readonly ring_bytes: number
  /** Bytes that all rings may take; beyond it, rings without streams are evicted, least recently used first (E21). */
  readonly rings_bytes: number
  /** Bytes of the largest frame of an event; a larger event appears as `error.v1` (E34). */
  readonly event_bytes: number
  /** Bytes of the largest single write, if it holds more than one event (E25). */
  readonly slice_bytes: number
  /** Streams that one turn of the event loop writes to before other work has its turn (E25). */
  readonly yield_writes: number
  /** Mean time between heartbeats of an idle stream (E36); each is 80 to 120 % of it. */
  readonly heartbeat: Duration.Duration
  /** A stream ends after 80 to 100 % of this time (E28). */
  readonly max_age: Duration.Duration
  /** A stream ends this time before its credential expires (E28). */
  readonly expiry_margin: Duration.Duration
  /** A stream whose socket stays full for this time ends with an overflow (E26). */
  readonly stall_timeout: Duration.Duration
  /** Events that a full stream may lag behind (E26); `ring`: as many as the ring holds. */
  readonly max_lag_events: number | "ring"
  /** Bytes that a full stream may lag behind (E26); `ring`: as many as the ring holds. */
  readonly max_lag_bytes: number | "ring"
  /** How long an ended stream may take to send its last bytes before its connection is destroyed (E31). */
  readonly linger: Duration.Duration
  /** How long to wait for this instance to catch up with a client's position (E24, step 4). */
  readonly freshness: Duration.Duration
  /** Mean time between two checks of an open stream's right against storage (E29); each is 80 to 120 % of it. */
  readonly revalidate: Duration.Duration
  /** Replays that run at the same time (E24, step 7). */
  readonly replays: number
  /** Bytes that running replays may have in flight together (E24, step 7). */
  readonly replay_bytes: number
  /** A replay blocked for this time leaves the budget: it is an ordinary slow reader from then on (E24, step 7). */
  readonly replay_patience: Duration.Duration
  /** Time between two reads of the log without a hint, and until a reader gives committed events their ids itself (E14). */
  readonly poll: Duration.Duration
  /** Events of one read of the log (E14). */
  readonly tail_batch: number
  /** Events that a reader of `EventFeed.events` may lag behind before it loses the oldest. */
  readonly waiter_backlog: number
  /**
   * How long the log keeps events; the newest `ring_events` of each organization stay longer (E16).
   * `NARTHEX_EVENT_RETENTION`.
   */
  readonly retention: Duration.Duration
  /** Limits of open streams (E24, step 1); `null`: none. */
  readonly limits: EventLimits | null
}

export const defaultEventLimits: EventLimits = { streams: 100, org_streams: 1_000, instance_streams: 10_000, opens: 50 }

export const defaultEventSettings: EventSettings = {
  ring_events: 1024,
  ring_bytes: 16 * 1024 * 1024,
  rings_bytes: 256 * 1024 * 1024,
  event_bytes: 64 * 1024,
  slice_bytes: 64 * 1024,
  yield_writes: 256,
  heartbeat: Duration.seconds(15),
  max_age: Duration.minutes(30),
  expiry_margin: Duration.seconds(5),
  stall_timeout: Duration.seconds(30),
  max_lag_events: "ring",
  max_lag_bytes: "ring",
  linger: Duration.seconds(5),
  freshness: Duration.seconds(3),
  revalidate: Duration.seconds(60),
  replays: 64,
  replay_bytes: 64 * 1024 * 1024,
  replay_patience: Duration.seconds(5),
  poll: Duration.millis(250),
  tail_batch: 500,
  waiter_backlog: 1_024,
  retention: Duration.hours(24),
  limits: defaultEventLimits
}

export const EventSettings = Context.Reference<EventSettings>("@narthex/core/records/events/EventSettings", {
  defaultValue: () => defaultEventSettings
})

/** The region that this instance emits events from (`NARTHEX_REGION`). */
export const EmittingRegion = Context.Reference<RegionId>("@narthex/core/records/events/EmittingRegion", {
  defaultValue: () => RegionId.make("local")
})
