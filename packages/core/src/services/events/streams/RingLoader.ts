/** Loads rings from the log when a client needs one; concurrent requests for the same ring share one load. */
import { Clock, Deferred, Effect, Exit, type Scope } from "effect"
import type { OrgId } from "../../../Ids.ts"
import type { EventLog } from "../../../records/events/EventLog.ts"
import type { Recorder } from "../../../records/events/EventMetrics.ts"
import type { StorageError } from "../../../StorageError.ts"
import type { EventRing } from "../ring/EventRing.ts"
import type { EventBroker } from "./EventBroker.ts"
import { streamMetrics } from "./StreamMetrics.ts"

export const makeRingLoader = (
  broker: EventBroker["Service"],
  log: EventLog["Service"],
  cap: number,
  record: Recorder,
  scope: Scope.Scope
) => {
  const loads = new Map<OrgId, Deferred.Deferred<void, StorageError>>()

  /** Runs in the service's scope, so a client that disconnects does not cancel the load of the others. */
  const load = (org: OrgId): Effect.Effect<void, StorageError> =>
    Effect.suspend(() => {
      const running = loads.get(org)
      if (running !== undefined) return Deferred.await(running)
      const done = Deferred.makeUnsafe<void, StorageError>()
      loads.set(org, done)
      const { fail, finish } = broker.beginLoad(org)
      const work = Effect.gen(function* () {
        const begun = yield* Clock.monotonicTimeNanos
        const window = yield* log.window(org, cap)
        record(streamMetrics.warmLoad, Number((yield* Clock.monotonicTimeNanos) - begun) / 1e9)
        finish(window)
      }).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit)) fail()
            loads.delete(org)
            Deferred.doneUnsafe(done, exit)
          })
        )
      )
      return Effect.andThen(Effect.forkIn(work, scope), Deferred.await(done))
    })

  /** The organization's ring, loaded if necessary, and loaded again if the feed started again in between. */
  const ringOf = (org: OrgId): Effect.Effect<EventRing, StorageError> =>
    Effect.suspend(() => {
      const ring = broker.ring(org)
      return ring === undefined ? Effect.flatMap(load(org), () => ringOf(org)) : Effect.succeed(ring)
    })

  return ringOf
}
