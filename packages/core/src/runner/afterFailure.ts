/** The consequence of a try that did not reach the wanted state (docs/design/operations.md O10 to O12): pure. */
import { DateTime, Duration } from "effect"
import type { ComputeFailed } from "../records/computes/ComputeDriver.ts"
import type { StoredOperation } from "../records/operations/Operation.ts"
import type { RunnerSettings } from "./RunnerPolicy.ts"

/** The back-off before the next try: half a second, doubled with each failure, at most half a minute. */
export const retryPause = (failures: number): Duration.Duration =>
  Duration.millis(Math.min(30_000, 250 * 2 ** failures))

/**
 * The pause of an operation that machines have no room for: a quarter of the time that it has waited, from one second
 * to a quarter of a minute. A jitter, a factor from a half to 1, keeps operations that wait for the same room from
 * coming back together. `random` is from 0 to 1.
 */
export const busyPause = (waited: Duration.Duration, random: number): Duration.Duration =>
  Duration.millis(Math.min(15_000, Math.max(1_000, Duration.toMillis(waited) / 4)) * (0.5 + random / 2))

/** `again`: the operation stays `running` with these members. `end`: it is over. */
export type AfterFailure =
  | {
      readonly kind: "again"
      readonly changes: Pick<StoredOperation, "busy_since" | "error" | "failures_count" | "retry_at">
    }
  | {
      readonly kind: "end"
      readonly status: "failed" | "error"
      readonly changes: Pick<StoredOperation, "error" | "failures_count">
    }

type Limits = Pick<RunnerSettings, "busy_limit" | "retries">

/**
 * Whether the operation carries a promise, such as a revocation. An operation with an `open` promise is tried until it
 * has succeeded, also after failures that a retry seems not to help. An operation with an `obsolete` promise is not
 * tried again: a later operation keeps the promise, and waits for this one's end.
 */
export type PromiseState = "none" | "open" | "obsolete"

export const afterFailure = (
  operation: Pick<StoredOperation, "busy_since" | "failures_count">,
  failure: ComputeFailed,
  { busy_limit, retries }: Limits,
  promise: PromiseState,
  now: DateTime.Utc,
  random: number
): AfterFailure => {
  const { failures_count: failed } = operation
  const endless = promise === "open"
  const retry = (pause: Duration.Duration) => DateTime.addDuration(now, pause)
  if (promise === "obsolete")
    return { kind: "end", status: "failed", changes: { error: failure.reason, failures_count: failed + 1 } }
  if (failure.busy === true) {
    const busy_since = operation.busy_since ?? now
    const waited = DateTime.distance(busy_since, now)
    if (endless || Duration.isLessThan(waited, busy_limit)) {
      const retry_at = retry(busyPause(waited, random))
      return { kind: "again", changes: { busy_since, error: failure.reason, failures_count: failed, retry_at } }
    }
    const error = `${failure.reason} This did not change for ${Duration.format(busy_limit)}.`
    return { kind: "end", status: "failed", changes: { error, failures_count: failed } }
  }
  const failures_count = failed + 1
  if (endless || (failure.retryable && failures_count <= retries)) {
    const retry_at = retry(retryPause(failures_count))
    return { kind: "again", changes: { busy_since: null, error: failure.reason, failures_count, retry_at } }
  }
  return {
    kind: "end",
    status: failure.retryable ? "failed" : "error",
    changes: { error: failure.reason, failures_count }
  }
}
