/**
 * Performs operations, on any number of instances at once: claims an operation, runs its action, records the end. The
 * actions are in `actions/`; `makePerformer` performs a claimed operation.
 *
 * The process may die between any two lines. The operation then stays `running` under a lease, and after the lease has
 * expired another worker runs it again. A retry stays inside `running`; after the last one the operation is `failed`.
 * Each class of operations has places of its own.
 */
import { Context, Effect, Layer, Option, Queue, Schema, Semaphore, Stream } from "effect"
import { becauseOf } from "../becauseOf.ts"
import { OperationId } from "../Ids.ts"
import type { LoggedEvent } from "../records/events/Envelope.ts"
import { EventFeed } from "../records/events/EventFeed.ts"
import { OperationAction, type StoredOperation } from "../records/operations/Operation.ts"
import { classOf, OperationClass } from "../records/operations/OperationClass.ts"
import type { TakenPlace } from "../records/operations/TakenPlace.ts"
import type { StorageError } from "../StorageError.ts"
import { Operations } from "../services/operations/Operations.ts"
import { makePerformer, type Needs } from "./makePerformer.ts"
import { RunnerPolicy } from "./RunnerPolicy.ts"
import { recordPlaces } from "./runnerMetrics.ts"

export class OperationRunner extends Context.Service<
  OperationRunner,
  {
    /** Makes the runner look for due operations now. A nudge may be lost: polling covers that. */
    readonly nudge: Effect.Effect<void>
    /** As `nudge`, for the operations of a class. */
    readonly nudgeClass: (of: OperationClass) => Effect.Effect<void>
    /** Makes the runner read an operation that it performs: it may have been cancelled. May be lost as well. */
    readonly look: (operation: OperationId) => Effect.Effect<void>
    /** Performs a due operation up to its end or its next retry. Returns `false` when none was due. */
    readonly runOne: Effect.Effect<boolean, StorageError>
  }
>()("@narthex/core/runner/OperationRunner") {
  /**
   * Performs operations as long as its scope lives. When it closes, calls of the driver are interrupted, and operations
   * that have not ended are given back, so that another instance performs them at once.
   */
  static readonly layer: Layer.Layer<OperationRunner, never, Needs> = Layer.effect(
    OperationRunner,
    Effect.gen(function* () {
      const performer = yield* makePerformer
      const { classes, poll } = yield* RunnerPolicy
      const { offerPlaces } = yield* Operations
      const scope = yield* Effect.scope
      const context = yield* Effect.context<never>()
      const loops = yield* Effect.forEach(OperationClass.literals, (of) =>
        Effect.map(Queue.sliding<void>(1), (nudges) => ({ of, nudges }))
      )
      const nudge = Effect.forEach(loops, ({ nudges }) => Queue.offer(nudges, undefined), { discard: true })

      const nudgeClass = (of: OperationClass) =>
        Effect.forEach(
          loops.filter((loop) => loop.of === of),
          ({ nudges }) => Queue.offer(nudges, undefined),
          { discard: true }
        )

      const dispatching = Effect.fnUntraced(function* (of: OperationClass, nudges: Queue.Queue<void>) {
        const places = yield* Semaphore.make(classes[of].places)
        let taken = 0
        const counted = (change: 1 | -1) =>
          Effect.suspend(() => {
            taken += change
            return recordPlaces(of, taken)
          })
        /** Performs a claimed operation in a place that is taken for it, and frees that at the end. */
        const occupy = Effect.fnUntraced(function* (
          operation: StoredOperation,
          performed: Effect.Effect<void, StorageError>
        ) {
          yield* performed.pipe(
            Effect.onInterrupt(() => Effect.ignore(performer.giveBack(operation))),
            Effect.catchCause((cause) =>
              Effect.logError("An operation could not be performed.").pipe(
                becauseOf(cause),
                Effect.annotateLogs("operation_id", operation.id)
              )
            ),
            Effect.ensuring(Effect.andThen(counted(-1), places.release(1))),
            // Another operation of the class may have waited for its turn. The branch's next operation may be of any
            // class: the event of this end nudges for it. A client that woke the compute connects now, and shares the
            // CPU with every claim.
            Effect.ensuring(nudgeClass(of)),
            // Where a request has claimed it: its deadlines and spans are not those of the operation.
            Effect.setContext(context),
            Effect.forkIn(scope)
          )
          yield* counted(1)
        })
        const place: TakenPlace = {
          claim: (scheduled) => performer.claimScheduled(of, scheduled),
          leave: (claimed, committed) => {
            if (claimed === undefined) return Effect.asVoid(places.release(1))
            const { operation, running } = claimed
            // Nothing more begins in a runner that has stopped.
            if (scope.state._tag === "Closed") return Effect.ignore(performer.giveBack(operation))
            // Where the outcome of the commit is not known, the record decides.
            return occupy(operation, performer.perform(operation, committed ? running : undefined))
          }
        }
        yield* offerPlaces({
          of,
          take: Effect.map(places.takeIfAvailable(1), (isFree) => (isFree ? place : undefined))
        })
        const dispatch = Effect.gen(function* () {
          yield* places.take(1)
          const due = yield* Effect.catchCause(performer.claim(of), (cause) =>
            Effect.logError("Operations cannot be claimed.").pipe(
              becauseOf(cause),
              Effect.as(Option.none<StoredOperation>())
            )
          )
          if (Option.isNone(due)) {
            yield* places.release(1)
            return yield* Effect.timeoutOption(Queue.take(nudges), poll)
          }
          yield* occupy(due.value, performer.perform(due.value))
        })
        yield* Effect.forkScoped(Effect.forever(dispatch))
      })
      yield* Effect.forEach(loops, ({ nudges, of }) => dispatching(of, nudges), { discard: true })
      return OperationRunner.of({ nudge, nudgeClass, look: performer.look, runOne: runOneOf(performer) })
    })
  )

  /**
   * As `layer`, and nudged by the event log as soon as any instance has committed a change of an operation, and before
   * that by this process, if it scheduled one.
   */
  static readonly layerNudged: Layer.Layer<OperationRunner, never, Needs | EventFeed> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { look, nudge, nudgeClass } = yield* OperationRunner
      const { events } = yield* EventFeed
      const { onHint } = yield* Operations
      yield* onHint(({ action, status }) => (status === "scheduling" ? nudgeClass(classOf(action)) : Effect.void))
      const announced = Stream.filter(events, (event) => event.type === "operation.updated.v1")
      /**
       * Nudges for the due operations: the operation itself, of an unknown class if its action is a newer version's, or
       * the operations behind it.
       */
      const heard = ({ action, operation_id, status }: LoggedEvent["data"]) => {
        if (status === "scheduling") return isAction(action) ? nudgeClass(classOf(action)) : nudge
        if (status === "running") return Effect.void
        if (status === "cancelling") return Effect.andThen(look(OperationId.make(String(operation_id))), nudge)
        return nudge
      }
      yield* Effect.forkScoped(Stream.runForEach(announced, ({ data }) => heard(data)))
    })
  ).pipe(Layer.provideMerge(OperationRunner.layer))

  /** Does nothing on its own: tests call `runOne`. */
  static readonly layerManual: Layer.Layer<OperationRunner, never, Needs> = Layer.effect(
    OperationRunner,
    Effect.suspend(() =>
      Effect.map(makePerformer, (performer) =>
        OperationRunner.of({
          nudge: Effect.void,
          nudgeClass: () => Effect.void,
          look: performer.look,
          runOne: runOneOf(performer)
        })
      )
    )
  )
}

const isAction = Schema.is(OperationAction)

const runOneOf = ({ claim, perform }: Effect.Success<typeof makePerformer>) =>
  Effect.gen(function* () {
    for (const of of OperationClass.literals) {
      const due = yield* claim(of)
      if (Option.isNone(due)) continue
      yield* perform(due.value)
      return true
    }
    return false
  })
