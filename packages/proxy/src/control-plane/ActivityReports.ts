/**
 * Reports to the control plane which computes are in use, so that it can suspend idle ones (docs/design/proxy.md P26):
 * about every 15 s, and within a second after a connection opens or closes.
 *
 * A session in a transaction or a query is active at the time of the report, even if no bytes pass. An idle session was
 * last active when its last byte passed. A compute without connections is reported until a report has succeeded.
 */
import type { EndpointActivity } from "@narthex/api"
import type { EndpointId } from "@narthex/core"
import { Clock, DateTime, Effect, Queue, type Scope } from "effect"
import { ControlPlane } from "./ControlPlane.ts"

/** What a report needs to know about a session. `lastActive` is in milliseconds of the wall clock. */
export interface Session {
  readonly busy: boolean
  readonly lastActive: number
}

export interface ActivityReports {
  /** Adds a session of a compute. Returns how to remove it. */
  readonly open: (endpoint_id: EndpointId, generation: number, session: Session) => () => void
  /** Sends a report immediately. A failure is logged at debug level; the next report covers it. */
  readonly report: Effect.Effect<void>
}

interface Use {
  readonly endpoint_id: EndpointId
  readonly generation: number
  readonly sessions: Set<Session>
  last_active_at: number
}

export const makeActivityReports: Effect.Effect<ActivityReports, never, ControlPlane | Scope.Scope> = Effect.gen(
  function* () {
    const control = yield* ControlPlane
    const clock = yield* Clock.Clock
    const uses = new Map<string, Use>()
    const changed = yield* Queue.sliding<void>(1)

    const report = Effect.suspend(() => {
      if (uses.size === 0) return Effect.void
      const now = clock.currentTimeMillisUnsafe()
      const reported = [...uses]
      const reports = reported.map(([, use]): EndpointActivity => {
        for (const session of use.sessions)
          use.last_active_at = Math.max(use.last_active_at, session.busy ? now : session.lastActive)
        const { endpoint_id, generation, last_active_at, sessions } = use
        return {
          endpoint_id,
          generation,
          connections: sessions.size,
          last_active_at: DateTime.makeUnsafe(last_active_at)
        }
      })
      return control.activity(reports).pipe(
        Effect.andThen(
          Effect.sync(() => {
            reports.forEach(({ connections }, index) => {
              const [key, use] = reported[index] ?? []
              if (key !== undefined && connections === 0 && use?.sessions.size === 0) uses.delete(key)
            })
          })
        ),
        Effect.catch((error) => Effect.logDebug(error.message))
      )
    })

    yield* Queue.take(changed).pipe(
      Effect.timeoutOption("15 seconds"),
      // Connections arrive in bursts: one report covers all changes of half a second.
      Effect.tap(() => Effect.sleep("500 millis")),
      Effect.andThen(report),
      Effect.forever,
      Effect.forkScoped
    )

    return {
      report,
      open: (endpoint_id, generation, session) => {
        const key = `${endpoint_id} ${generation}`
        const use = uses.get(key) ?? {
          endpoint_id,
          generation,
          sessions: new Set(),
          last_active_at: session.lastActive
        }
        uses.set(key, use)
        use.sessions.add(session)
        Queue.offerUnsafe(changed, undefined)
        return () => {
          use.last_active_at = Math.max(use.last_active_at, session.lastActive)
          use.sessions.delete(session)
          Queue.offerUnsafe(changed, undefined)
        }
      }
    }
  }
)
