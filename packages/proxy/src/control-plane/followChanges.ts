/**
 * Follows the changes that the control plane streams, as long as the scope lives: a hint makes a cache ask again. After
 * each subscription everything is asked for again, because hints may have been missed before.
 */
import { Effect, Schedule, type Scope, Stream } from "effect"
import { count } from "../outcomes/AuditTrail.ts"
import type { AllowlistCache } from "./AllowlistCache.ts"
import { ControlPlane } from "./ControlPlane.ts"
import type { EndpointCache } from "./EndpointCache.ts"

export interface Followers {
  readonly allowlists: Pick<AllowlistCache, "changed" | "reload">
  readonly endpoints: Pick<EndpointCache, "changed" | "reload">
}

export const followChanges = ({
  allowlists,
  endpoints
}: Followers): Effect.Effect<void, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const subscription = Effect.gen(function* () {
      const changes = yield* control.changes
      endpoints.reload()
      yield* allowlists.reload
      yield* Stream.runForEach(changes, (it) =>
        it.of === "allowlist" ? allowlists.changed(it.change) : Effect.sync(() => endpoints.changed(it.change))
      )
    })
    yield* Effect.scoped(subscription).pipe(
      Effect.catch((error) => Effect.logDebug(error.message)),
      Effect.andThen(count("subscription_lost")),
      Effect.repeat(Schedule.jittered(Schedule.spaced("1 second"))),
      Effect.forkScoped
    )
  })
