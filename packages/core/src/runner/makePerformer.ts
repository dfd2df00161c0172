/**
 * Performs one operation at a time: claims it, runs its action under a lease and a deadline, and records the end. The
 * loop that does so for several at once is `OperationRunner`.
 *
 * Every change of the record is made only while the claim is the latest one (`whileHeld`), and the driver gets the
 * claim's number as `ComputeFence`. So whatever a worker does after it has lost an operation changes nothing. The driver can
 * ask for the organization of the operation (`ComputeTenant`), and for the disk that this one takes (`TenantDisk`).
 */
import { DateTime, Duration, Effect, Option, Queue, Random, Result } from "effect"
import type { OperationId } from "../Ids.ts"
import { type Compute, type ComputeDriver, ComputeFailed } from "../records/computes/ComputeDriver.ts"
import { ComputeFence } from "../records/computes/ComputeFence.ts"
import { ComputeTenant, TenantDisk } from "../records/computes/ComputeTenant.ts"
import { isFinal, StoredOperation } from "../records/operations/Operation.ts"
import { classOf, type OperationClass } from "../records/operations/OperationClass.ts"
import { OperationStore } from "../records/operations/OperationStore.ts"
import type { ClaimedOperation } from "../records/operations/TakenPlace.ts"
import type { BranchRoleStore } from "../records/projects/BranchRoleStore.ts"
import type { BranchStore } from "../records/projects/BranchStore.ts"
import type { EndpointStore } from "../records/projects/EndpointStore.ts"
import { QuotaStore } from "../records/quotas/QuotaStore.ts"
import type { RegionCatalog } from "../records/regions/RegionCatalog.ts"
import type { StorageError } from "../StorageError.ts"
import { Operations } from "../services/operations/Operations.ts"
import { Transaction } from "../Transaction.ts"
import { abandonable } from "./abandonable.ts"
import { actions } from "./actions.ts"
import { afterFailure } from "./afterFailure.ts"
import { makeClaims } from "./makeClaims.ts"
import { RunnerPolicy } from "./RunnerPolicy.ts"
import { recordDuration, recordTry } from "./runnerMetrics.ts"

export type Needs =
  | BranchRoleStore
  | BranchStore
  | ComputeDriver
  | EndpointStore
  | Operations
  | OperationStore
  | QuotaStore
  | RegionCatalog
  | Transaction

/** After how long an operation is tried again that has to wait for its branch's parent. */
const waitForParent = Duration.millis(100)

const tookTooLong = new ComputeFailed({ reason: "The step took too long and was stopped.", retryable: true })

export const makePerformer = Effect.gen(function* () {
  const context = yield* Effect.context<Needs>()
  const store = yield* OperationStore
  const operations = yield* Operations
  const quotas = yield* QuotaStore
  const { run } = yield* Transaction
  const policy = yield* RunnerPolicy
  const { classes, grace, lease } = policy
  const { claim, claimFor, worker } = yield* makeClaims
  /** The operations that are performed here. An offer makes `keepLease` read the operation. */
  const watched = new Map<OperationId, Queue.Queue<void>>()

  const leaseOf = ({ fence }: StoredOperation) => ({ worker, fence })

  /** The stored operation, if this claim is still the latest. */
  const held = Effect.fnUntraced(function* (operation: StoredOperation) {
    const row = yield* store.lock(operation.id)
    return Option.filter(row, (it) => it.lease_owner === worker && it.fence === operation.fence && !isFinal(it.status))
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
        // Taken over from a worker that died, tried again, or to be cancelled.
        if (row.status !== "scheduling") return { operation: row, go: true }
        const { begin, giveUp } = actions[row.action]
        const answer = yield* begin(row)
        if (answer === "go") return { operation: yield* operations.move(row, "running"), go: true }
        if (answer === "wait") return { operation: yield* putBack(row), go: false }
        yield* giveUp(row)
        return { operation: yield* operations.move(row, "skipped"), go: false }
      })
    )

  /**
   * Within the transaction that has scheduled an operation: claims the operation whose turn it is, and begins it if it
   * is the scheduled one.
   *
   * Pitfall: beginning another one. Its endpoint may be locked by a transaction that waits for this claim.
   */
  const claimScheduled = Effect.fnUntraced(function* (of: OperationClass, scheduled: StoredOperation) {
    const operation = Option.getOrUndefined(yield* claimFor(of, scheduled))
    if (operation === undefined) return undefined
    const isNew = operation.id === scheduled.id && operation.status === "scheduling"
    // An operation that does not begin here is left to `start`, which ends it or puts it back.
    const begins = isNew && (yield* actions[operation.action].begin(operation)) === "go"
    return { operation, running: begins ? yield* operations.move(operation, "running") : undefined }
  })

  const finish = (operation: StoredOperation, compute: Compute | null) =>
    whileHeld(operation, (row) =>
      Effect.andThen(actions[row.action].complete(row, compute), operations.move(row, "finished", { error: null }))
    ).pipe(
      Effect.tap(
        Option.match({
          onNone: () => Effect.void,
          onSome: (finished) => Effect.andThen(recordDuration(finished), operations.hint(finished))
        })
      )
    )

  const cancel = (operation: StoredOperation) =>
    whileHeld(operation, (row) => Effect.andThen(actions[row.action].giveUp(row), operations.move(row, "cancelled")))

  const promiseOf = (row: StoredOperation) => {
    const { isObsolete, isPromise } = actions[row.action]
    if (!isPromise) return Effect.succeed("none" as const)
    return Effect.map(isObsolete(row), (obsolete) => (obsolete ? ("obsolete" as const) : ("open" as const)))
  }

  /** Decides the consequence of a failure by the row. */
  const decide = Effect.fnUntraced(function* (row: StoredOperation, failure: ComputeFailed) {
    return afterFailure(row, failure, policy, yield* promiseOf(row), yield* DateTime.now, yield* Random.next)
  })

  const fail = (operation: StoredOperation, failure: ComputeFailed) =>
    whileHeld(
      operation,
      Effect.fnUntraced(function* (row) {
        const next = yield* decide(row, failure)
        if (next.kind === "again") {
          const updated_at = yield* DateTime.now
          yield* store.update(new StoredOperation({ ...row, ...next.changes, updated_at, lease_until: null }))
          return
        }
        yield* actions[row.action].giveUp(row)
        yield* operations.move(row, next.status, next.changes)
      })
    )

  /** Extends the lease. Completes when it is lost, or when the operation is to be cancelled. */
  const keepLease = (operation: StoredOperation, looks: Queue.Queue<void>) =>
    Effect.gen(function* () {
      while (true) {
        yield* Effect.timeoutOption(Queue.take(looks), Duration.times(lease, 1 / 3))
        const until = DateTime.addDuration(yield* DateTime.now, lease)
        // During an outage no other worker can claim it either.
        const answer = yield* Effect.orElseSucceed(
          store.extend(operation.id, leaseOf(operation), until),
          () => "kept" as const
        )
        if (answer !== "kept") return answer
      }
    })

  const diskOf = ({ org_id }: StoredOperation) =>
    Effect.gen(function* () {
      const now = yield* DateTime.now
      const { disk_bytes = 0 } = yield* quotas.held({ org_id, project_id: null, now }, ["disk_bytes"])
      return disk_bytes
    })

  /** Runs a step of an action under the lease. `Failure`: why it was abandoned. */
  const underLease = <A, E, R>(operation: StoredOperation, step: Effect.Effect<A, E, R>, deadline: Duration.Duration) =>
    Effect.gen(function* () {
      const looks = yield* Queue.sliding<void>(1)
      watched.set(operation.id, looks)
      const late = Effect.as(Effect.sleep(deadline), "late" as const)
      const over = Effect.raceFirst(late, keepLease(operation, looks))
      const asked = step.pipe(
        Effect.provideService(ComputeFence, operation.fence),
        Effect.provideService(ComputeTenant, operation.org_id),
        Effect.provideService(TenantDisk, diskOf(operation))
      )
      return yield* abandonable(asked, over, grace).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            if (watched.get(operation.id) === looks) watched.delete(operation.id)
          })
        )
      )
    })

  /** A defect counts as a failure that can be retried, so that it does not block the branch for ever. */
  const performed = (operation: StoredOperation) => {
    const { action, branch_id } = operation
    const address = branch_id === null ? Effect.succeed(null) : actions[action].perform(operation, branch_id)
    return Effect.catchDefect(
      address,
      (defect) => new ComputeFailed({ reason: "An internal error.", detail: String(defect), retryable: true })
    )
  }

  /** Brings the machines back to what the record says after the operation is over without success. Best effort. */
  const undone = (operation: StoredOperation) => {
    const { undo } = actions[operation.action]
    if (undo === undefined) return Effect.void
    return underLease(operation, Effect.exit(undo(operation)), Duration.min(deadlineOf(operation), undoDeadline))
  }
  const deadlineOf = ({ action }: StoredOperation) => classes[classOf(action)].deadline

  const noted = (operation: StoredOperation, failure: ComputeFailed, outcome: "failed" | "busy" | "abandoned") => {
    const { action, branch_id, failures_count, id, org_id, project_id } = operation
    const line = `${action} ${outcome === "busy" ? "waits" : "failed"}: ${failure.reason}`
    const said = { operation_id: id, org_id, project_id, branch_id, action, try: failures_count + 1 }
    // A promise that is not kept after several tries needs a person.
    const write = actions[action].isPromise && failures_count >= policy.retries ? Effect.logError : Effect.logWarning
    return Effect.andThen(
      recordTry(action, outcome),
      Effect.annotateLogs(write(line), { ...said, detail: failure.detail ?? failure.reason })
    )
  }

  const failed = Effect.fnUntraced(function* (
    operation: StoredOperation,
    failure: ComputeFailed,
    outcome: "failed" | "busy" | "abandoned"
  ) {
    yield* noted(operation, failure, outcome)
    if ((yield* decide(operation, failure)).kind === "end") yield* undone(operation)
    yield* fail(operation, failure)
  })

  const perform = Effect.fn("OperationRunner.run")(function* (operation: StoredOperation, begun?: StoredOperation) {
    yield* Effect.annotateCurrentSpan({ operation_id: operation.id, action: operation.action })
    const started = begun === undefined ? yield* start(operation) : Option.some({ operation: begun, go: true })
    if (Option.isNone(started) || !started.value.go) return
    const running = started.value.operation
    if (running.status === "cancelling") {
      yield* undone(running)
      return yield* cancel(running)
    }
    const outcome = yield* Effect.result(underLease(running, performed(running), deadlineOf(running)))
    if (Result.isFailure(outcome)) {
      const failure = outcome.failure
      if (failure._tag === "StorageError") return yield* failure
      return yield* failed(running, failure, failure.busy === true ? "busy" : "failed")
    }
    if (Result.isSuccess(outcome.success)) {
      yield* recordTry(running.action, "finished")
      return yield* finish(running, outcome.success.success)
    }
    const reason = outcome.success.failure
    if (reason === "lost") return
    if (reason === "late") return yield* failed(running, tookTooLong, "abandoned")
    yield* undone(running)
    yield* cancel(running)
  })

  return {
    claim,
    claimScheduled: (
      of: OperationClass,
      scheduled: StoredOperation
    ): Effect.Effect<ClaimedOperation | undefined, StorageError> =>
      Effect.provideContext(claimScheduled(of, scheduled), context),
    /** `begun`: the operation as `claimScheduled` has begun it. Left out: it has to begin, if it has not. */
    perform: (operation: StoredOperation, begun?: StoredOperation): Effect.Effect<void, StorageError> =>
      Effect.provideContext(Effect.asVoid(perform(operation, begun)), context),
    /** Ends the lease of an operation that is not performed any more. */
    giveBack: (operation: StoredOperation) => store.release(operation.id, leaseOf(operation)),
    /** Reads an operation that is performed here: it may have been cancelled. */
    look: (operation: OperationId) =>
      Effect.suspend(() => {
        const looks = watched.get(operation)
        return looks === undefined ? Effect.void : Effect.asVoid(Queue.offer(looks, undefined))
      })
  }
})

const undoDeadline = Duration.seconds(30)
