/**
 * Reports to the control plane which clients the allowlist refused (docs/design/proxy.md P42 to P44).
 *
 * A report has a number and is sent until it is answered, for an hour at most; the control plane counts it once.
 * Refusals that come until then are the next report. At most one call is under way, and calls are ten seconds apart.
 *
 * Pitfall: sending the refusals of a report that was not answered together with later ones. The first call may have
 * arrived, and they would count twice.
 */
import type { RefusalsPayload } from "@narthex/api"
import { Duration, Effect, Queue, Random, type Scope, Semaphore } from "effect"
import { type PendingRefusal, PendingRefusals, type RefusedConnection } from "../outcomes/PendingRefusals.ts"
import { ControlPlane } from "./ControlPlane.ts"

export interface RefusalReports {
  /** Adds a refusal to the next report. No connection waits for it. */
  readonly add: (refused: RefusedConnection) => void
  /** Reports what there is, in at most two calls. A failure is logged at debug level. */
  readonly report: Effect.Effect<void>
}

/** How long a first refusal waits for others. */
const gather = Duration.seconds(1)
/** The time between two calls. */
const interval = Duration.seconds(10)
/** The time until the next call after the control plane has refused one: an older version has no such call. */
const afterRejection = Duration.minutes(10)
/** After this time without an answer a report is dropped, in milliseconds. */
const keptFor = Duration.toMillis(Duration.hours(1))

interface Report {
  readonly sequence: number
  readonly refusals: ReadonlyArray<PendingRefusal>
  readonly made: number
}

/** `proxy_id` is unique to this process; `now` is a monotonic clock in milliseconds. */
export const makeRefusalReports = (
  proxy_id: string,
  now: () => number
): Effect.Effect<RefusalReports, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const pending = new PendingRefusals()
    const due = yield* Queue.sliding<void>(1)
    const oneCall = yield* Semaphore.make(1)
    let sequence = 0
    let unanswered: Report | undefined

    const nextReport = (): Report | undefined => {
      if (unanswered !== undefined && now() - unanswered.made < keptFor) return unanswered
      unanswered = pending.size === 0 ? undefined : { sequence: ++sequence, refusals: pending.take(), made: now() }
      return unanswered
    }

    /** Makes a call if there is something to report, and returns how long to wait until the next one. */
    const send = Effect.gen(function* () {
      const report = nextReport()
      if (report === undefined) return interval
      const sent = yield* Effect.result(control.refusals(payloadOf(proxy_id, report, now())))
      if (sent._tag === "Success" || sent.failure._tag === "ReportRejected") unanswered = undefined
      if (sent._tag === "Success") return interval
      yield* Effect.logDebug(sent.failure.message)
      return sent.failure._tag === "ReportRejected" ? afterRejection : interval
    }).pipe(oneCall.withPermits(1))

    yield* Queue.take(due).pipe(
      Effect.andThen(Effect.sleep(gather)),
      Effect.andThen(send),
      Effect.flatMap(jitteredSleep),
      // A report without an answer is due again, and so are the refusals of the pause.
      Effect.tap(() => {
        if (unanswered !== undefined || pending.size > 0) Queue.offerUnsafe(due, undefined)
        return Effect.void
      }),
      Effect.forever,
      Effect.forkScoped
    )

    return {
      add: (refused) => {
        pending.add(refused, now())
        Queue.offerUnsafe(due, undefined)
      },
      report: Effect.andThen(
        send,
        Effect.suspend(() => (unanswered === undefined ? Effect.asVoid(send) : Effect.void))
      )
    }
  })

const jitteredSleep = (length: Duration.Duration) =>
  Effect.flatMap(Random.next, (random) => Effect.sleep(Duration.millis(Duration.toMillis(length) * (0.9 + random / 5))))

const payloadOf = (proxy_id: string, { refusals, sequence }: Report, at: number): RefusalsPayload => ({
  proxy_id,
  sequence,
  refusals: refusals.map(({ first, last, role, ...refusal }) => ({
    ...refusal,
    ...(role === undefined ? {} : { role }),
    first_ms: Math.max(0, Math.floor(at - first)),
    last_ms: Math.max(0, Math.floor(at - last))
  }))
})
