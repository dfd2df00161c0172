/** A stream as the caller that opened it holds it. */
import { Effect } from "effect"
import type { EventStream } from "./EventStream.ts"
import type { EndReason } from "./StreamMetrics.ts"

export interface OpenStream {
  /** Done when the connection is gone. */
  readonly ended: Effect.Effect<EndReason>
  /** Ends it from this side. */
  readonly close: Effect.Effect<void>
}

/** The stream holds no reference to the result: a caller that does not wait for the end costs no memory. */
export const openStream = (stream: EventStream): OpenStream => ({
  ended: Effect.callback((resume) => stream.onGone((reason) => resume(Effect.succeed(reason)))),
  close: Effect.sync(() => stream.end("client_gone"))
})
