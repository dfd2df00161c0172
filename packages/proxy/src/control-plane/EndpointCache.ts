/**
 * Where endpoints are. Every connection asks the control plane; while it is unreachable the last known answer counts.
 *
 * A stale address is harmless: it contains the compute's generation, so it leads to that compute or nowhere.
 *
 * Pitfall: resolving only when a client connects. Disabling, suspending or deleting an endpoint also ends its
 * established connections, and its compute may go on for other endpoints of the branch. So endpoints with connections
 * are resolved again when the control plane hints that they have changed, and at every refresh, because hints are lost.
 */
import type { EndpointChange, ResolvedEndpoint } from "@narthex/api"
import type { EndpointId } from "@narthex/core"
import { type Duration, Effect, Queue, Schedule, type Scope } from "effect"
import { ControlPlane, type ControlPlaneUnreachable, type EndpointUnknown } from "./ControlPlane.ts"
import { jittered, makeSingleFlight } from "./SingleFlight.ts"

/** An answer of the control plane, and when it was asked, by the clock of `makeEndpointCache`. */
export interface Located {
  readonly endpoint: ResolvedEndpoint
  readonly asked_at: number
}

/** A connection to a compute. `asked_at` is that of the answer that it rests on. */
export interface Connected {
  readonly endpoint_id: EndpointId
  readonly generation: number
  readonly asked_at: number
}

export interface EndpointCache {
  /** Concurrent requests for one endpoint share a call. */
  readonly resolve: (endpoint_id: EndpointId) => Effect.Effect<Located, EndpointUnknown | ControlPlaneUnreachable>
  /** Calls `cut` when the endpoint is disabled, deleted or suspended. Returns how to stop. */
  readonly watch: (connected: Connected, cut: Cut) => () => void
  /** A hint that the endpoint has changed. */
  readonly changed: (change: EndpointChange) => void
  /** Resolves every endpoint with connections again: hints may have been missed. */
  readonly reload: () => void
}

export type Cut = (why: "disabled" | "suspended") => void

interface Watched {
  readonly generation: number
  readonly cut: Cut
}

/** The least recently resolved endpoint is evicted beyond this number. */
const capacity = 10_000
/** How many endpoints are resolved at once, because of hints and because of a refresh. */
const concurrency = 8

/** `now` is a monotonic clock in milliseconds. */
export const makeEndpointCache = (
  refresh: Duration.Duration,
  now: () => number
): Effect.Effect<EndpointCache, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const flights = yield* makeSingleFlight<Located, EndpointUnknown | ControlPlaneUnreachable>()
    const known = new Map<EndpointId, Located>()
    const asking = new Set<EndpointId>()
    /** When the last hint came, for endpoints that are known or being asked for. */
    const hinted = new Map<EndpointId, number>()
    const watched = new Map<EndpointId, Set<Watched>>()
    /** Endpoints that are to be resolved again, each once until its question begins. */
    const due = yield* Queue.unbounded<EndpointId>()
    const waiting = new Set<EndpointId>()
    /** When hints may have been missed last. */
    let missed_at = Number.NEGATIVE_INFINITY

    const forget = (endpoint_id: EndpointId) => {
      known.delete(endpoint_id)
      hinted.delete(endpoint_id)
    }
    const remember = (located: Located) => {
      const { endpoint_id } = located.endpoint
      known.delete(endpoint_id)
      known.set(endpoint_id, located)
      const [oldest] = known.keys()
      if (known.size > capacity && oldest !== undefined) forget(oldest)
    }
    const watching = (endpoint_id: EndpointId) => [...(watched.get(endpoint_id) ?? [])]
    const cutAll = (endpoint_id: EndpointId) => {
      for (const { cut } of watching(endpoint_id)) cut("disabled")
    }

    const question = (endpoint_id: EndpointId) =>
      Effect.suspend(() => {
        const asked_at = now()
        // A connection that began after the question may be one to the next start of the compute.
        const before = watching(endpoint_id)
        asking.add(endpoint_id)
        return control.resolve(endpoint_id).pipe(
          Effect.map((endpoint): Located => ({ endpoint, asked_at })),
          Effect.tap((located) =>
            Effect.sync(() => {
              const { current_state, disabled, generation: latest } = located.endpoint
              remember(located)
              if (disabled) return cutAll(endpoint_id)
              // Suspended, or suspended and started again since.
              for (const { cut, generation } of before)
                if (current_state === "idle" || (latest !== null && latest > generation)) cut("suspended")
            })
          )
        )
      }).pipe(
        Effect.tapErrorTag("EndpointUnknown", () =>
          Effect.sync(() => {
            forget(endpoint_id)
            cutAll(endpoint_id)
          })
        ),
        Effect.ensuring(
          Effect.sync(() => {
            asking.delete(endpoint_id)
            if (!known.has(endpoint_id)) hinted.delete(endpoint_id)
          })
        )
      )

    /** Pitfall: sharing an answer to a question from before the hint. It may be that of before the change. */
    const askAgain = (endpoint_id: EndpointId) =>
      flights.again(endpoint_id, question(endpoint_id)).pipe(
        Effect.retry({
          while: ({ _tag }) => _tag === "ControlPlaneUnreachable",
          schedule: Schedule.spaced("1 second"),
          times: 5
        }),
        Effect.ignore
      )

    const soon = (endpoint_id: EndpointId) => {
      if (waiting.has(endpoint_id)) return
      waiting.add(endpoint_id)
      Queue.offerUnsafe(due, endpoint_id)
    }
    const next = Effect.flatMap(Queue.take(due), (endpoint_id) => {
      waiting.delete(endpoint_id)
      return askAgain(endpoint_id)
    })
    yield* Effect.forEach(Array.from({ length: concurrency }), () => Effect.forkScoped(Effect.forever(next)), {
      discard: true
    })
    yield* Effect.suspend(() =>
      Effect.forEach([...watched.keys()], (id) => Effect.ignore(flights.join(id, question(id))), { concurrency })
    ).pipe(Effect.schedule(jittered(refresh)), Effect.forkScoped)

    /** Whether the endpoint may have changed since a connection to it asked for it. It was not watched then. */
    const mayHaveChanged = ({ asked_at, endpoint_id }: Connected) =>
      !known.has(endpoint_id) || Math.max(missed_at, hinted.get(endpoint_id) ?? missed_at) >= asked_at

    return {
      resolve: (endpoint_id) =>
        Effect.catchTag(flights.join(endpoint_id, question(endpoint_id)), "ControlPlaneUnreachable", (error) => {
          const last = known.get(endpoint_id)
          return last === undefined ? Effect.fail(error) : Effect.succeed(last)
        }),
      watch: (connected, cut) => {
        const { endpoint_id, generation } = connected
        const those = watched.get(endpoint_id) ?? new Set()
        const it = { generation, cut }
        watched.set(endpoint_id, those.add(it))
        if (mayHaveChanged(connected)) soon(endpoint_id)
        return () => {
          those.delete(it)
          if (those.size === 0 && watched.get(endpoint_id) === those) watched.delete(endpoint_id)
        }
      },
      changed: ({ endpoint_id }) => {
        if (known.has(endpoint_id) || asking.has(endpoint_id)) hinted.set(endpoint_id, now())
        if (watched.has(endpoint_id)) soon(endpoint_id)
      },
      reload: () => {
        missed_at = now()
        for (const endpoint_id of watched.keys()) soon(endpoint_id)
      }
    }
  })
