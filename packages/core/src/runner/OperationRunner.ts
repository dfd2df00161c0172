/**
 * Performs operations, on any number of instances at once: claims an operation, runs its action, records the end. What
 * the actions do is in `actions/`.
 *
 * The process may die between any two lines. The operation then stays `running` under a lease, and after the lease has
 * expired another worker runs it again. A retry stays inside `running`; after the last one the operation is `failed`.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Queue, Semaphore, Stream } from "effect"
import { type ComputeDriver, ComputeFailed } from "../computes/ComputeDriver.ts"
import { EventFeed } from "../events/EventFeed.ts"
import { makeOperationId } from "../Ids.ts"
import { isFinal, StoredOperation } from "../operations/Operation.ts"
import { OperationStore } from "../operations/OperationStore.ts"
import { Operations } from "../operations/Operations.ts"
import type { BranchRoleStore } from "../projects/BranchRoleStore.ts"
import type { BranchStore } from "../projects/BranchStore.ts"
import type { EndpointStore } from "../projects/EndpointStore.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"
import { actions } from "./actions.ts"

export interface RunnerSettings {
  /** How long a claimed operation belongs to its worker. The worker extends it after each third of that time. */
  readonly lease: Duration.Duration
  /** How many operations an instance performs at once. */
  readonly concurrency: number
  /** How long it waits for a nudge before it looks for due operations again. */
  readonly poll: Duration.Duration
  /** How many times a failed operation is tried again. */
  readonly retries: number
}

export const RunnerPolicy = Context.Reference<RunnerSettings>("@narthex/core/runner/RunnerPolicy", {
  defaultValue: () => ({ lease: Duration.seconds(30), concurrency: 8, poll: Duration.millis(500), retries: 4 })
})

/** The back-off before the next try: half a second, doubled with each failure, at most half a minute. */
export const retryPause = (failures: number): Duration.Duration =>
  Duration.millis(Math.min(30_000, 250 * 2 ** failures))

/** After how long an operation is tried again that has to wait for its branch's parent. */
const waitForParent = Duration.millis(100)

type Needs = BranchRoleStore | BranchStore | ComputeDriver | EndpointStore | Operations | OperationStore | Transaction

export class OperationRunner extends Context.Service<
  OperationRunner,
  {
    /** Makes the runner look for due operations now. A nudge may be lost: polling covers that. */
    readonly nudge: Effect.Effect<void>
    /** Performs a due operation up to its end or its next retry. Returns `false` when none was due. */
    readonly runOne: Effect.Effect<boolean, StorageError>
  }
>()("@narthex/core/runner/OperationRunner") {
  /** Performs operations as long as its scope lives. */
  static readonly layer: Layer.Layer<OperationRunner, never, Needs> = Layer.effect(
    OperationRunner,
    Effect.gen(function* () {
      const { claimOne, runOne, work } = yield* makeRunner
      const { concurrency, poll } = yield* RunnerPolicy
      const scope = yield* Effect.scope
      const places = yield* Semaphore.make(concurrency)
      const nudges = yield* Queue.sliding<void>(1)
      const nudge = Effect.asVoid(Queue.offer(nudges, undefined))
      // The next operation of the branch may have waited for the end of this one.
      const leave = Effect.andThen(places.release(1), nudge)

      const dispatch = Effect.gen(function* () {
        yield* places.take(1)
        const due = yield* Effect.catchCause(claimOne, (cause) =>
          Effect.as(Effect.logError("Operations cannot be claimed.", cause), Option.none())
        )
        if (Option.isNone(due)) {
          yield* places.release(1)
          return yield* Effect.timeoutOption(Queue.take(nudges), poll)
        }
        yield* work(due.value).pipe(
          Effect.catchCause((cause) => Effect.logError("An operation could not be performed.", cause)),
          Effect.ensuring(leave),
          Effect.forkIn(scope)
        )
      })
      yield* Effect.forkScoped(Effect.forever(dispatch))
      return OperationRunner.of({ nudge, runOne })
    })
  )

  /** As `layer`, and nudged by the event log as soon as any instance has committed a change of an operation. */
  static readonly layerNudged: Layer.Layer<OperationRunner, never, Needs | EventFeed> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { nudge } = yield* OperationRunner
      const { events } = yield* EventFeed
      const announced = Stream.filter(events, (event) => event.type === "operation.updated.v1")
      yield* Effect.forkScoped(Stream.runForEach(announced, () => nudge))
    })
  ).pipe(Layer.provideMerge(OperationRunner.layer))

  /** Does nothing on its own: tests call `runOne`. */
  static readonly layerManual: Layer.Layer<OperationRunner, never, Needs> = Layer.effect(
    OperationRunner,
    Effect.suspend(() => Effect.map(makeRunner, ({ runOne }) => OperationRunner.of({ nudge: Effect.void, runOne })))
  )
}

const makeRunner = Effect.gen(function* () {
  const context = yield* Effect.context<Needs>()
  const store = yield* OperationStore
  const operations = yield* Operations
  const { run } = yield* Transaction
  const { lease, retries } = yield* RunnerPolicy
  const worker = yield* makeOperationId

  const claim = Effect.map(DateTime.now, (now) => ({ worker, now, lease_until: DateTime.addDuration(now, lease) }))

  /** The stored operation, if this worker still holds it. */
  const held = Effect.fnUntraced(function* (operation: StoredOperation) {
    const row = yield* store.lock(operation.id)
    return Option.filter(row, (it) => it.lease_owner === worker && !isFinal(it.status))
  })

  /** Locks and changes the operation in one transaction. `None`: another worker has taken it over. */
  const whileHeld = <A, E, R>(operation: StoredOperation, change: (held: StoredOperation) => Effect.Effect<A, E, R>) =>
    run(
      Effect.flatMap(
        held(operation),
        Option.match({ onNone: () => Effect.succeedNone, onSome: (row) => Effect.asSome(change(row)) })
      )
    )

  /** Leaves the operation in `scheduling` and makes it due again after `waitForParent`. */
  const putBack = Effect.fnUntraced(function* (operation: StoredOperation) {
    const retry_at = DateTime.addDuration(yield* DateTime.now, waitForParent)
    const waiting = new StoredOperation({ ...operation, retry_at, lease_owner: null, lease_until: null })
    yield* store.update(waiting)
    return waiting
  })

  const start = (operation: StoredOperation) =>
    whileHeld(
      operation,
      Effect.fnUntraced(function* (row) {
        if (row.status === "running") return { operation: row, go: true } // taken over from a worker that died
        const { begin, giveUp } = actions[row.action]
        const answer = yield* begin(row)
        if (answer === "go") return { operation: yield* operations.move(row, "running"), go: true }
        if (answer === "wait") return { operation: yield* putBack(row), go: false }
        yield* giveUp(row)
        return { operation: yield* operations.move(row, "skipped"), go: false }
      })
    )

  const finish = (operation: StoredOperation, address: string | null) =>
    whileHeld(operation, (row) =>
      Effect.andThen(actions[row.action].complete(row, address), operations.move(row, "finished", { error: null }))
    )

  const fail = (operation: StoredOperation, failure: ComputeFailed) =>
    whileHeld(
      operation,
      Effect.fnUntraced(function* (row) {
        const failures_count = row.failures_count + 1
        if (failure.retryable && failures_count <= retries) {
          const now = yield* DateTime.now
          const retry_at = DateTime.addDuration(now, retryPause(failures_count))
          yield* store.update(
            new StoredOperation({
              ...row,
              failures_count,
              retry_at,
              error: failure.reason,
              updated_at: now,
              lease_until: null
            })
          )
          return
        }
        yield* actions[row.action].giveUp(row)
        yield* operations.move(row, failure.retryable ? "failed" : "error", { failures_count, error: failure.reason })
      })
    )

  /** Extends the lease and returns when it is lost, so that the work stops that another worker repeats. */
  const keepLease = (operation: StoredOperation) =>
    Effect.flatMap(claim, (now) => store.extend(operation.id, now)).pipe(
      Effect.orElseSucceed(() => true), // during an outage no other worker can claim it either
      Effect.delay(Duration.times(lease, 1 / 3)),
      Effect.repeat({ while: (kept) => kept })
    )

  /** A defect counts as a failure that can be retried, so that it does not block the branch for ever. */
  const performed = (operation: StoredOperation) => {
    const { action, branch_id, id } = operation
    const address = branch_id === null ? Effect.succeed(null) : actions[action].perform(operation, branch_id)
    return Effect.catchDefect(address, (defect) =>
      Effect.andThen(
        Effect.logError(`${action} ${id} died.`, defect),
        new ComputeFailed({ reason: "An internal error.", retryable: true })
      )
    )
  }

  const work = Effect.fn("OperationRunner.run")(function* (operation: StoredOperation) {
    yield* Effect.annotateCurrentSpan({ operation_id: operation.id, action: operation.action })
    const started = yield* start(operation)
    if (Option.isNone(started) || !started.value.go) return
    const running = started.value.operation
    // After a lost lease `finish` records nothing: `held` finds another owner.
    const outcome = yield* Effect.result(Effect.raceFirst(performed(running), Effect.as(keepLease(running), null)))
    if (outcome._tag === "Success") return yield* finish(running, outcome.success)
    if (outcome.failure._tag === "StorageError") return yield* outcome.failure
    yield* Effect.logWarning(`${running.action} ${running.id} failed: ${outcome.failure.reason}`)
    yield* fail(running, outcome.failure)
  })

  const claimOne = Effect.flatMap(claim, store.claim)
  const runOne = Effect.gen(function* () {
    const due = yield* claimOne
    if (Option.isNone(due)) return false
    yield* work(due.value)
    return true
  })
  return {
    claimOne,
    work: (operation: StoredOperation) => Effect.provideContext(work(operation), context),
    runOne: Effect.provideContext(runOne, context)
  }
})
