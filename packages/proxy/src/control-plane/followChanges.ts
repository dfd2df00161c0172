/**
 * Follows the changes that the control plane streams, as long as the scope lives: a hint makes a cache ask again. After
 * each subscription everything is asked for again, because hints may have been missed before.
 */
import type { CancelNotice } from "@narthex/core"
import { Effect, Schedule, type Scope, Stream } from "effect"
import { count } from "../outcomes/AuditTrail.ts"
import type { AllowlistCache } from "./AllowlistCache.ts"
import { type Change, ControlPlane } from "./ControlPlane.ts"
import type { EndpointCache } from "./EndpointCache.ts"

/** The receivers of changes, by kind. */
export interface Followers {
  readonly allowlists: Pick<AllowlistCache, "changed" | "reload">
  readonly endpoints: Pick<EndpointCache, "changed" | "reload">
  /** Forwards a cancel request that has reached another proxy, if this one has the session. */
  readonly cancelHere: (notice: CancelNotice) => void
}

const told = ({ allowlists, cancelHere, endpoints }: Followers, { change, of }: Change): Effect.Effect<void> => {
  switch (of) {
    case "allowlist":
      return allowlists.changed(change)
    case "endpoint":
      return Effect.sync(() => endpoints.changed(change))
    case "cancel":
      return Effect.sync(() => cancelHere(change))
  }
}

export const followChanges = (followers: Followers): Effect.Effect<void, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const { allowlists, endpoints } = followers
    const subscription = Effect.gen(function* () {
      const changes = yield* control.changes
      endpoints.reload()
      yield* allowlists.reload
      yield* Stream.runForEach(changes, (change) => told(followers, change))
    })
    yield* Effect.scoped(subscription).pipe(
      Effect.catch((error) => Effect.logDebug(error.message)),
      Effect.andThen(count("subscription_lost")),
      Effect.repeat(Schedule.jittered(Schedule.spaced("1 second"))),
      Effect.forkScoped
    )
  })
