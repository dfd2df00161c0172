/**
 * Waits for an operation to reach a final status.
 *
 * All waits of one operation on an instance share one watch: a fiber that reads the operation, then again at each event
 * of the operation, and every five seconds in case an event is missed. So what waits cost storage depends on the
 * operations that are waited for, and not on the number of waits. The end of an operation that this process performed
 * itself is hinted, and needs neither event nor read.
 *
 * Pitfall: filtering `EventFeed.events` per wait. Each wait would examine every event of the platform.
 * Pitfall: reading, then waiting for a change. A change between the two is missed, so the next change is awaited from
 * before the read.
 */
import { Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Option } from "effect"
import type { OperationId } from "../../Ids.ts"
import { EventFeed } from "../../records/events/EventFeed.ts"
import { isFinal, type StoredOperation } from "../../records/operations/Operation.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { Requester } from "../../rules/authorization/Requester.ts"
import type { StorageError } from "../../StorageError.ts"
import { Operations } from "./Operations.ts"
import { type TooManyWaits, WaitLimit, WaitLimits } from "./WaitLimits.ts"

/** How long a watch relies on events alone. */
const lookAgain = Duration.seconds(5)

type Found = Option.Option<StoredOperation>

const isOver = (found: Found) => Option.isNone(found) || isFinal(found.value.status)

/** The state that the waits for one operation share. */
interface Watch {
  waits: number
  /** The newest state that was read; `undefined`: none yet. */
  latest: Found | undefined
  /** Completes at the next change of the operation. */
  changed: Deferred.Deferred<void>
  /** Completes when the operation is final or unknown, or cannot be read. */
  readonly ended: Deferred.Deferred<Found, StorageError>
  fiber: Fiber.Fiber<void> | undefined
}

export class OperationWaits extends Context.Service<
  OperationWaits,
  {
    /**
     * The operation once it is final, or the newest state that is known of it after `within`. `None`: there is no such
     * operation.
     */
    readonly settled: (
      operation: OperationId,
      within: Duration.Duration
    ) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
    /** The same for a caller of the API, whose open waits are limited. */
    readonly settledFor: (
      caller: AnyCaller,
      operation: OperationId,
      within: Duration.Duration
    ) => Effect.Effect<Option.Option<StoredOperation>, StorageError | TooManyWaits>
  }
>()("@narthex/core/services/operations/OperationWaits") {
  static readonly layer: Layer.Layer<OperationWaits, never, EventFeed | Operations | OperationStore> = Layer.effect(
    OperationWaits,
    Effect.gen(function* () {
      const feed = yield* EventFeed
      const { onHint } = yield* Operations
      const store = yield* OperationStore
      const scope = yield* Effect.scope
      const context = yield* Effect.context<never>()
      const watches = new Map<string, Watch>()
      const limits = new WaitLimits()

      const nudge = (watch: Watch | undefined) => {
        if (watch !== undefined) Deferred.doneUnsafe(watch.changed, Exit.void)
      }
      const nudgeAll = () => {
        for (const watch of watches.values()) nudge(watch)
      }
      yield* feed.subscribe({
        restart: nudgeAll,
        resumed: nudgeAll,
        deliver: (batch) => {
          for (const { data } of batch) {
            const operation = data["operation_id"]
            if (typeof operation === "string") nudge(watches.get(operation))
          }
        }
      })

      yield* onHint((operation) =>
        Effect.sync(() => {
          const watch = watches.get(operation.id)
          if (watch === undefined || !isFinal(operation.status)) return
          watch.latest = Option.some(operation)
          nudge(watch)
        })
      )

      const follow = (operation: OperationId, watch: Watch) =>
        Effect.gen(function* () {
          while (true) {
            watch.changed = Deferred.makeUnsafe()
            const { latest } = watch
            const found: Found = latest !== undefined && isOver(latest) ? latest : yield* store.find(operation)
            watch.latest = found
            if (isOver(found)) return found
            yield* Effect.timeoutOption(Deferred.await(watch.changed), lookAgain)
          }
        }).pipe(
          Effect.onExit((exit) =>
            Effect.sync(() => {
              // The next wait begins a new watch.
              if (watches.get(operation) === watch) watches.delete(operation)
              Deferred.doneUnsafe(watch.ended, exit)
            })
          ),
          Effect.exit,
          Effect.asVoid
        )

      const join = Effect.fnUntraced(function* (operation: OperationId) {
        const running = watches.get(operation)
        if (running !== undefined) {
          running.waits += 1
          return running
        }
        const watch: Watch = {
          waits: 1,
          latest: undefined,
          changed: Deferred.makeUnsafe(),
          ended: Deferred.makeUnsafe(),
          fiber: undefined
        }
        watches.set(operation, watch)
        // With the context of the layer: the first wait's own, its deadlines and spans, are not those of the others. Its reads
        // count as those of the first wait, because a caller may begin many watches.
        watch.fiber = yield* follow(operation, watch).pipe(
          Effect.provideService(Requester, yield* Requester),
          Effect.setContext(context),
          Effect.forkIn(scope, { startImmediately: true })
        )
        return watch
      })

      const leave = (operation: OperationId, watch: Watch) =>
        Effect.suspend(() => {
          watch.waits -= 1
          if (watch.waits > 0) return Effect.void
          if (watches.get(operation) === watch) watches.delete(operation)
          return watch.fiber === undefined ? Effect.void : Fiber.interrupt(watch.fiber)
        })

      const settled: OperationWaits["Service"]["settled"] = Effect.fn("OperationWaits.settled")((operation, within) =>
        Effect.acquireUseRelease(
          join(operation),
          (watch) =>
            Effect.flatMap(Effect.timeoutOption(Deferred.await(watch.ended), within), (ended) => {
              if (Option.isSome(ended)) return Effect.succeed(ended.value)
              return watch.latest === undefined ? store.find(operation) : Effect.succeed(watch.latest)
            }),
          (watch) => leave(operation, watch)
        )
      )

      const settledFor: OperationWaits["Service"]["settledFor"] = (caller, operation, within) =>
        Effect.acquireUseRelease(
          Effect.flatMap(WaitLimit, (limit) =>
            Option.match(limits.take(caller, limit), {
              onNone: () => Effect.void,
              onSome: (error) => Effect.fail(error)
            })
          ),
          () => settled(operation, within),
          () => Effect.sync(() => limits.give(caller))
        )

      return OperationWaits.of({ settled, settledFor })
    })
  )
}
