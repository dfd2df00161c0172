/** Settings of a simulated world: small enough that everything that has a limit meets it within seconds. */
import { Duration } from "effect"
import { defaultEventSettings, type EventSettings } from "../../../src/records/events/EventSettings.ts"
import type { SimLoop } from "./SimLoop.ts"

/** So many streams served in one turn that no reader can fall behind between two flushes. */
export const roomy = 512

/** How late a timer of a stream may be: timers are checked at an interval. */
export const lateness = ({ heartbeat }: Pick<EventSettings, "heartbeat">) =>
  2 * Math.min(1_000, Duration.toMillis(heartbeat) / 10) + 1

export const simSettings = (loop: SimLoop, clients: number): EventSettings => {
  const ring_events = 2 + loop.below(loop.pick([6, 10, 20]))
  const heartbeat = Duration.seconds(loop.pick([2, 4, 10]))
  return {
    ...defaultEventSettings,
    ring_events,
    ring_bytes: loop.once(4) ? 1_000 + loop.below(4_000) : defaultEventSettings.ring_bytes,
    rings_bytes: loop.once(4) ? 30_000 : defaultEventSettings.rings_bytes,
    event_bytes: 700,
    slice_bytes: 300 + loop.below(loop.pick([500, 3_000])),
    yield_writes: loop.pick([1, 1, 2, 3, 5, roomy]),
    heartbeat,
    max_age: Duration.seconds(loop.pick([3, 30])),
    expiry_margin: Duration.millis(lateness({ heartbeat })),
    stall_timeout: Duration.millis(loop.pick([700, 2_000])),
    max_lag_events: loop.once(3) ? 2 + loop.below(ring_events) : "ring",
    max_lag_bytes: loop.once(4) ? 500 + loop.below(3_000) : "ring",
    linger: Duration.millis(500),
    freshness: Duration.millis(loop.pick([500, 2_000])),
    revalidate: Duration.seconds(10),
    replays: loop.pick([1, 1, 2, 3]),
    replay_bytes: loop.once(3) ? 500 + loop.below(3_000) : defaultEventSettings.replay_bytes,
    replay_patience: Duration.millis(loop.pick([400, 2_000])),
    poll: Duration.millis(loop.pick([200, 1_000])),
    tail_batch: 1 + loop.below(12),
    waiter_backlog: 1,
    // As many as there are clients: a place that is not given back shuts a client out.
    limits: loop.once(3) ? { streams: clients, org_streams: clients, instance_streams: clients, opens: 3 } : null
  }
}
