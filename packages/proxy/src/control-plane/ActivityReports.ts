/**
 * Reports to the control plane how computes are used, so that it suspends idle ones (docs/design/proxy.md P26, P32).
 *
 * A report is due when a compute comes into use, when it has been quiet for two seconds, and every 15 seconds in
 * between. So the control plane knows at once of a session that gets busy, and a session with many short queries costs
 * no more reports than a long query. A compute without sessions is reported until a report has succeeded.
 *
 * Times are those of a monotonic clock. Only authenticated sessions count.
 *
 * Pitfall: reporting everything in one call. The control plane limits the size of a body, and a proxy with many
 * computes would never be heard.
 */
import { type EndpointActivity, maxActivities } from "@narthex/api"
import { activityTiming, type EndpointId } from "@narthex/core"
import { Clock, DateTime, Duration, Effect, Queue, Random, type Scope } from "effect"
import { ControlPlane } from "./ControlPlane.ts"

/**
 * A session, as reports need it. `lastActive` is in milliseconds of the clock of `makeActivityReports`.
 */
export interface Session {
  readonly busy: boolean
  readonly lastActive: number
}

/** A session that is reported. */
export interface Reported {
  /** To be called when the session gets busy. */
  readonly busy: () => void
  /** Removes the session. */
  readonly close: () => void
}

export interface ActivityReports {
  /** Adds an authenticated session of a compute. */
  readonly open: (endpoint_id: EndpointId, generation: number, session: Session) => Reported
  /** Reports everything immediately. A failure is logged at debug level; the next report covers it. */
  readonly report: Effect.Effect<void>
}

/** After this time without activity a compute is reported as idle, in milliseconds. */
const quiet = 2_000
/** How often computes are looked at, and how long a report waits for others, in milliseconds. */
const [look, gather] = [500, 50]
/** The pause after a failure: its least and its greatest length in milliseconds. It doubles with each failure. */
const [pause, longestPause] = [500, 4_000]

interface Use {
  readonly endpoint_id: EndpointId
  readonly generation: number
  readonly sessions: Set<Session>
  last_active: number
  /** The content and time of the last report that succeeded. */
  reported: { readonly in_use: boolean; readonly at: number } | undefined
}

interface Observed {
  readonly use: Use
  readonly in_use: boolean
  readonly activity: EndpointActivity
}

/** `proxy_id` is unique to this process; `now` is a monotonic clock in milliseconds. */
export const makeActivityReports = (
  proxy_id: string,
  now: () => number
): Effect.Effect<ActivityReports, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const clock = yield* Clock.Clock
    const uses = new Map<string, Use>()
    const changed = yield* Queue.sliding<void>(1)
    let sequence = 0
    let failures = 0

    const observe = (use: Use, at: number): Observed => {
      const { endpoint_id, generation, sessions } = use
      let busy = 0
      for (const session of sessions) {
        if (session.busy) busy++
        use.last_active = Math.max(use.last_active, session.lastActive)
      }
      const idle_ms = busy > 0 ? 0 : Math.max(0, Math.floor(at - use.last_active))
      return {
        use,
        in_use: busy > 0 || idle_ms < quiet,
        activity: {
          endpoint_id,
          generation,
          connections: sessions.size,
          busy,
          idle_ms,
          last_active_at: DateTime.makeUnsafe(clock.currentTimeMillisUnsafe() - idle_ms)
        }
      }
    }

    const isDue = ({ in_use, use: { reported } }: Observed, at: number) =>
      reported === undefined || reported.in_use !== in_use || at - reported.at >= activityTiming.interval

    /** A session that is open but was quiet counts as busy until the compute is reported as idle: see the header. */
    const stated = ({ activity, in_use }: Observed): EndpointActivity =>
      in_use && activity.busy === 0 && activity.connections > 0 ? { ...activity, busy: 1, idle_ms: 0 } : activity

    /** Returns whether the call succeeded. */
    const send = Effect.fnUntraced(function* (part: ReadonlyArray<Observed>, at: number) {
      sequence++
      const sent = yield* Effect.result(control.activity({ proxy_id, sequence, endpoints: part.map(stated) }))
      if (sent._tag === "Failure") {
        yield* Effect.logDebug(sent.failure.message)
        return false
      }
      for (const { activity, in_use, use } of part) {
        use.reported = { in_use, at }
        const over = activity.connections === 0 && !in_use && use.sessions.size === 0
        if (over) uses.delete(keyOf(use))
      }
      return true
    })

    const reportSome = Effect.fnUntraced(function* (wanted: (it: Observed, at: number) => boolean) {
      const at = now()
      const due = [...uses.values()].map((use) => observe(use, at)).filter((it) => wanted(it, at))
      const sent = yield* Effect.forEach(inParts(due), (part) => send(part, at))
      failures = sent.every(Boolean) ? 0 : failures + 1
      if (failures === 0) return
      const random = yield* Random.next
      const length = Math.min(longestPause, pause * 2 ** Math.min(failures, 10))
      yield* Effect.sleep(Duration.millis(length * (0.5 + random / 2)))
    })

    yield* Queue.take(changed).pipe(
      Effect.timeoutOption(look),
      // Changes come in bursts: one call covers those of a moment.
      Effect.andThen(Effect.sleep(gather)),
      Effect.andThen(reportSome(isDue)),
      Effect.forever,
      Effect.forkScoped
    )

    return {
      report: Effect.suspend(() => {
        const at = now()
        const all = [...uses.values()].map((use) => observe(use, at))
        return Effect.asVoid(Effect.forEach(inParts(all), (part) => send(part, at)))
      }),
      open: (endpoint_id, generation, session) => {
        const key = keyOf({ endpoint_id, generation })
        const use = uses.get(key) ?? {
          endpoint_id,
          generation,
          sessions: new Set(),
          last_active: session.lastActive,
          reported: undefined
        }
        uses.set(key, use)
        use.sessions.add(session)
        const busy = () => {
          if (use.reported?.in_use !== true) Queue.offerUnsafe(changed, undefined)
        }
        busy()
        return {
          busy,
          close: () => {
            use.last_active = Math.max(use.last_active, session.busy ? now() : session.lastActive)
            use.sessions.delete(session)
          }
        }
      }
    }
  })

const keyOf = ({ endpoint_id, generation }: Pick<Use, "endpoint_id" | "generation">) => `${endpoint_id} ${generation}`

/** Calls of at most `maxActivities` computes. */
const inParts = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / maxActivities) }, (_, n) =>
    all.slice(n * maxActivities, (n + 1) * maxActivities)
  )
