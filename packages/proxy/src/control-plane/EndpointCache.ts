/**
 * Where endpoints are. Every connection asks the control plane; while it is unreachable the last known answer counts.
 *
 * A stale address is harmless: it contains the compute's generation, so it leads to that compute or nowhere.
 *
 * Pitfall: resolving only when a client connects. Disabling or suspending an endpoint also ends its established
 * connections, so endpoints with connections are resolved again at every refresh. The compute of a suspended endpoint
 * may go on for other endpoints of its branch.
 */
import type { ResolvedEndpoint } from "@narthex/api"
import type { EndpointId } from "@narthex/core"
import { type Duration, Effect, type Scope } from "effect"
import { ControlPlane, type ControlPlaneUnreachable, type EndpointUnknown } from "./ControlPlane.ts"
import { jittered, makeSingleFlight } from "./SingleFlight.ts"

export interface EndpointCache {
  /** Concurrent requests for one endpoint share a call. */
  readonly resolve: (
    endpoint_id: EndpointId
  ) => Effect.Effect<ResolvedEndpoint, EndpointUnknown | ControlPlaneUnreachable>
  /** Calls `cut` when the endpoint is disabled, deleted or suspended. Returns how to stop. */
  readonly watch: (endpoint_id: EndpointId, cut: Cut) => () => void
}

export type Cut = (why: "disabled" | "suspended") => void

/** The least recently resolved endpoint is evicted beyond this number. */
const capacity = 10_000

export const makeEndpointCache = (
  refresh: Duration.Duration
): Effect.Effect<EndpointCache, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const flights = yield* makeSingleFlight<ResolvedEndpoint, EndpointUnknown | ControlPlaneUnreachable>()
    const known = new Map<EndpointId, ResolvedEndpoint>()
    const watched = new Map<EndpointId, Set<Cut>>()

    const remember = (endpoint: ResolvedEndpoint) => {
      known.delete(endpoint.endpoint_id)
      known.set(endpoint.endpoint_id, endpoint)
      const [oldest] = known.keys()
      if (known.size > capacity && oldest !== undefined) known.delete(oldest)
    }
    const watching = (endpoint_id: EndpointId) => [...(watched.get(endpoint_id) ?? [])]
    const cutAll = (endpoint_id: EndpointId) => {
      for (const cut of watching(endpoint_id)) cut("disabled")
    }

    const ask = (endpoint_id: EndpointId) =>
      flights.join(
        endpoint_id,
        Effect.suspend(() => {
          // A connection that began after the question may be one to the next start of the compute.
          const before = watching(endpoint_id)
          return Effect.tap(control.resolve(endpoint_id), (endpoint) =>
            Effect.sync(() => {
              remember(endpoint)
              if (endpoint.disabled) cutAll(endpoint_id)
              else if (endpoint.current_state === "idle") for (const cut of before) cut("suspended")
            })
          )
        }).pipe(
          Effect.tapErrorTag("EndpointUnknown", () =>
            Effect.sync(() => {
              known.delete(endpoint_id)
              cutAll(endpoint_id)
            })
          )
        )
      )

    yield* Effect.suspend(() =>
      Effect.forEach([...watched.keys()], (id) => Effect.ignore(ask(id)), { concurrency: 8 })
    ).pipe(Effect.schedule(jittered(refresh)), Effect.forkScoped)

    return {
      resolve: (endpoint_id) =>
        Effect.catchTag(ask(endpoint_id), "ControlPlaneUnreachable", (error) => {
          const last = known.get(endpoint_id)
          return last === undefined ? Effect.fail(error) : Effect.succeed(last)
        }),
      watch: (endpoint_id, cut) => {
        const cuts = watched.get(endpoint_id) ?? new Set()
        watched.set(endpoint_id, cuts.add(cut))
        return () => {
          cuts.delete(cut)
          if (cuts.size === 0 && watched.get(endpoint_id) === cuts) watched.delete(endpoint_id)
        }
      }
    }
  })
