/** The runner of operations. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "operations"
const tests = [
  "packages/core/test/runner/OperationRunner.lease.test.ts",
  "packages/core/test/runner/OperationRunner.test.ts",
  "packages/core/test/runner/OperationRunner.failures.test.ts",
  "packages/core/test/runner/OperationRunner.bounds.test.ts",
  "packages/core/test/runner/OperationRunner.promises.test.ts",
  "packages/core/test/runner/OperationRunner.order.test.ts",
  "packages/core/test/runner/OperationRunner.crashes.test.ts",
  "packages/core/test/runner/OperationRunner.loop.test.ts",
  "packages/core/test/operations/Operation.test.ts"
]

export const operationRunner: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/runner/makePerformer.ts",
    tests,
    faults: [
      {
        id: "runner-held-owner",
        find: "it.lease_owner === worker && it.fence === operation.fence && !isFinal",
        put: "!isFinal",
        why: "A worker that lost its lease records nothing."
      },
      {
        id: "runner-held-fence",
        find: "it.lease_owner === worker && it.fence === operation.fence && !isFinal",
        put: "it.lease_owner === worker && !isFinal",
        why: "A worker that claimed an operation again records nothing for its earlier claim."
      },
      {
        id: "runner-take-over",
        find: 'if (row.status !== "scheduling") return { operation: row, go: true }',
        put: 'if (row.status !== "scheduling") return { operation: row, go: false }',
        why: "An operation whose worker died is run again."
      },
      {
        id: "runner-take-over-begins",
        find: 'if (row.status !== "scheduling") return { operation: row, go: true }',
        put: "",
        why: "An operation that is taken over does not begin twice."
      },
      {
        id: "runner-wait",
        find: 'if (answer === "wait") return { operation: yield* putBack(row), go: false }',
        put: 'if (answer === "wait") return { operation: row, go: false }',
        why: "An operation that has to wait is given back."
      },
      {
        id: "runner-wait-pause",
        find: 'if (answer === "wait") return',
        put: 'if (answer === "never") return',
        why: "An operation waits for the branch that it copies."
      },
      {
        id: "runner-skip-gives-up",
        find: 'yield* giveUp(row)\n        return { operation: yield* operations.move(row, "skipped")',
        put: 'return { operation: yield* operations.move(row, "skipped")',
        why: "A skipped operation leaves nothing pending."
      },
      {
        id: "runner-skipped",
        find: 'operations.move(row, "skipped"), go: false',
        put: 'operations.move(row, "skipped"), go: true',
        why: "A skipped operation is not performed."
      },
      {
        id: "runner-complete",
        find: "Effect.andThen(actions[row.action].complete(row, address), operations.move",
        put: "Effect.andThen(Effect.void, operations.move",
        why: "What an operation changed is recorded with its end."
      },
      {
        id: "runner-finish-error",
        find: '"finished", { error: null }',
        put: '"finished", {}',
        why: "A finished operation has no error of an earlier try."
      },
      {
        id: "runner-retry-lease",
        find: "...row, ...next.changes, updated_at, lease_until: null",
        put: "...row, ...next.changes, updated_at",
        why: "The next try does not wait for the lease of the last."
      },
      {
        id: "runner-fail-gives-up",
        find: "yield* actions[row.action].giveUp(row)\n        yield* operations.move(row, next",
        put: "yield* operations.move(row, next",
        why: "An operation that failed leaves nothing pending."
      },
      {
        id: "runner-lease-kept",
        find: 'if (answer !== "kept") return answer',
        put: "return answer",
        why: "A lease is kept while the work takes."
      },
      {
        id: "runner-lease-outage",
        find: '() => "kept" as const',
        put: '() => "lost" as const',
        why: "A store that cannot be reached for a moment loses no lease."
      },
      {
        id: "runner-lease-third",
        find: "Duration.times(lease, 1 / 3)",
        put: "Duration.times(lease, 2)",
        why: "A lease is extended before it ends."
      },
      {
        id: "runner-defect",
        find: "Effect.catchDefect(\n      address,",
        put: "Effect.catchDefect(\n      Effect.orDie(address),",
        why: "A failure of the machines keeps its own reason, and a defect has none to show."
      },
      {
        id: "runner-deadline",
        find: "Effect.sleep(deadline)",
        put: "Effect.never",
        why: "A call of the driver that hangs is abandoned at its deadline."
      },
      {
        id: "runner-fence",
        find: "Effect.provideService(step, ComputeFence, operation.fence)",
        put: "step",
        why: "The driver knows the claim that it is called for."
      },
      {
        id: "runner-undo",
        find: 'if ((yield* decide(operation, failure)).kind === "end") yield* undone(operation)\n',
        put: "",
        why: "A start that failed for good leaves no compute that no record shows."
      },
      {
        id: "runner-obsolete",
        find: "isPromise && !(yield* isObsolete(row))",
        put: "isPromise",
        why: "Roles of a deleted branch are not applied for ever."
      },
      {
        id: "runner-log-detail",
        find: "detail: failure.detail ?? failure.reason",
        put: "detail: failure.reason",
        why: "The operator's log says what the machine said."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/OperationRunner.ts",
    tests,
    faults: [
      {
        id: "runner-none-due",
        find: "if (Option.isNone(due)) continue",
        put: "if (Option.isNone(due)) return true",
        why: "The runner says when nothing was due."
      },
      {
        id: "runner-loop-claim-outage",
        find: 'Effect.as(Effect.logError("Operations cannot be claimed.", cause), Option.none<StoredOperation>())',
        put: "Effect.failCause(cause)",
        why: "The runner survives an outage of the store."
      },
      {
        id: "runner-loop-leave",
        find: "Effect.andThen(counted(-1), places.release(1))",
        put: "counted(-1)",
        why: "A finished operation makes room for the next."
      },
      {
        id: "runner-loop-release",
        find: "            yield* places.release(1)\n            return",
        put: "            return",
        why: "Looking for work takes no place for ever."
      },
      {
        id: "runner-loop-nudge",
        find: "Effect.timeoutOption(Queue.take(nudges), poll)",
        put: "Effect.asVoid(Effect.sleep(poll))",
        why: "A nudge makes the runner look at once."
      },
      {
        id: "runner-loop-poll",
        find: "Effect.timeoutOption(Queue.take(nudges), poll)",
        put: "Queue.take(nudges)",
        why: "The runner looks again although no hint came."
      },
      {
        id: "runner-loop-concurrency",
        find: "Semaphore.make(classes[of].places)",
        put: "Semaphore.make(1)",
        why: "Operations of several branches run at once."
      },
      {
        id: "runner-loop-give-back",
        find: "Effect.onInterrupt(() => Effect.ignore(performer.giveBack(operation)))",
        put: "Effect.onInterrupt(() => Effect.void)",
        why: "A runner that stops gives its operations back."
      }
    ]
  }
]
