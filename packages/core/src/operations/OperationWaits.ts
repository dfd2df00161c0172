/**
 * Waits for an operation to reach a final status.
 *
 * The event feed announces every change. Reading the store four times a second in addition covers a missed event.
 */
import { Clock, Context, Duration, Effect, Layer, Option, Stream } from "effect"
import { EventFeed } from "../events/EventFeed.ts"
import type { OperationId } from "../Ids.ts"
import type { StorageError } from "../StorageError.ts"
import { isFinal, type StoredOperation } from "./Operation.ts"
import { OperationStore } from "./OperationStore.ts"

const pollInterval = Duration.millis(250)

export class OperationWaits extends Context.Service<
  OperationWaits,
  {
    /** The operation once it is final, or as it is after `within`. `None`: there is no such operation. */
    readonly settled: (
      operation: OperationId,
      within: Duration.Duration
    ) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
  }
>()("@narthex/core/operations/OperationWaits") {
  static readonly layer: Layer.Layer<OperationWaits, never, EventFeed | OperationStore> = Layer.effect(
    OperationWaits,
    Effect.gen(function* () {
      const feed = yield* EventFeed
      const store = yield* OperationStore

      const changed = (operation: OperationId) =>
        feed.events.pipe(
          Stream.filter((event) => event.data["operation_id"] === operation),
          Stream.take(1),
          Stream.runDrain
        )

      return OperationWaits.of({
        settled: Effect.fn("OperationWaits.settled")(function* (operation, within) {
          const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(within)
          while (true) {
            const found = yield* store.find(operation)
            const left = end - (yield* Clock.currentTimeMillis)
            if (Option.isNone(found) || isFinal(found.value.status) || left <= 0) return found
            const pause = Duration.min(pollInterval, Duration.millis(left))
            yield* Effect.timeoutOption(changed(operation), pause)
          }
        })
      })
    })
  )
}
