/** What all streams of a broker share: settings in milliseconds, the event loop, metrics, and where they report. */
import { DateTime, Duration } from "effect"
import type { RegionId } from "../Ids.ts"
import type { Recorder } from "./EventMetrics.ts"
import type { EventSettings } from "./EventSettings.ts"
import type { OrgFanout } from "./OrgFanout.ts"
import type { StreamScheduler } from "./StreamPorts.ts"
import type { Subscription } from "./Subscription.ts"

export interface StreamHost {
  readonly settings: EventSettings
  readonly millis: StreamMillis
  readonly region_id: RegionId
  readonly scheduler: StreamScheduler["Service"]
  readonly record: Recorder
  /** Counted on the hot path, told to the metrics now and then. */
  readonly counts: StreamCounts
  /** This organization's streams have something to get. */
  readonly enqueue: (fanout: OrgFanout) => void
  /** The stream's connection has room again. */
  readonly drained: (stream: Subscription) => void
  /** The stream shows nothing more; its connection may still be sending. */
  readonly ended: (stream: Subscription) => void
  /** Asks for a look at the stream at this time. */
  readonly remind: (stream: Subscription, at: number) => void
}

export interface StreamCounts {
  delivered: number
  bytes: number
  lagging: number
}

export const streamMillis = (settings: EventSettings) => ({
  heartbeat: Duration.toMillis(settings.heartbeat),
  maxAge: Duration.toMillis(settings.maxAge),
  expiryMargin: Duration.toMillis(settings.expiryMargin),
  stall: Duration.toMillis(settings.stallTimeout),
  linger: Duration.toMillis(settings.linger),
  replayPatience: Duration.toMillis(settings.replayPatience),
  revalidate: Duration.toMillis(settings.revalidate),
  yieldAfter: Duration.toMillis(settings.yieldAfter)
})
export type StreamMillis = ReturnType<typeof streamMillis>

export const instant = (host: StreamHost): DateTime.Utc => DateTime.makeUnsafe(host.scheduler.now())

/** How much a flush may still do before it lets others have their turn. */
export class FlushBudget {
  readonly #host: StreamHost
  #writes: number
  readonly #until: number
  #now: number

  private constructor(host: StreamHost, writes: number, millis: number) {
    this.#host = host
    this.#writes = writes
    this.#now = host.scheduler.now()
    this.#until = this.#now + millis
  }

  static readonly of = (host: StreamHost) => new FlushBudget(host, host.settings.yieldWrites, host.millis.yieldAfter)

  static readonly unlimited = (host: StreamHost) =>
    new FlushBudget(host, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)

  wrote() {
    this.#writes -= 1
    // The clock is asked now and then only: a write takes microseconds.
    if (this.#writes % 16 !== 0) return
    this.#now = this.#host.scheduler.now()
    if (this.#now > this.#until) this.#writes = 0
  }

  /** The time as far as this budget knows it: a few writes old at most. */
  get now(): number {
    return this.#now
  }

  get spent(): boolean {
    return this.#writes <= 0
  }
}
