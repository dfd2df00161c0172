/** The parts that all streams of a broker share: settings in milliseconds, clock and chance, and metrics. */
import { DateTime, Duration } from "effect"
import type { RegionId } from "../../../Ids.ts"
import type { Recorder } from "../../../records/events/EventMetrics.ts"
import type { EventSettings } from "../../../records/events/EventSettings.ts"

export interface StreamHost {
  readonly settings: EventSettings
  readonly millis: StreamMillis
  readonly region_id: RegionId
  /** Milliseconds of the wall clock. */
  readonly now: () => number
  /** At least 0, less than 1. */
  readonly random: () => number
  readonly record: Recorder
  /** Counted on the hot path, recorded as metrics at each tick of the broker. */
  readonly counts: StreamCounts
}

export interface StreamCounts {
  delivered: number
  bytes: number
  lagging: number
}

export const streamMillis = (settings: EventSettings) => ({
  heartbeat: Duration.toMillis(settings.heartbeat),
  max_age: Duration.toMillis(settings.max_age),
  expiry_margin: Duration.toMillis(settings.expiry_margin),
  stall: Duration.toMillis(settings.stall_timeout),
  linger: Duration.toMillis(settings.linger),
  replay_patience: Duration.toMillis(settings.replay_patience)
})
export type StreamMillis = ReturnType<typeof streamMillis>

export const instant = (host: StreamHost): DateTime.Utc => DateTime.makeUnsafe(host.now())
