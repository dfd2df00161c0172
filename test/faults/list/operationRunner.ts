/** The runner of operations. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const operationRunner: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/core/src/runner/OperationRunner.ts",
    tests: [
      "packages/core/test/runner/OperationRunner.lease.test.ts",
      "packages/core/test/runner/OperationRunner.test.ts",
      "packages/core/test/runner/OperationRunner.failures.test.ts",
      "packages/core/test/runner/OperationRunner.order.test.ts",
      "packages/core/test/runner/OperationRunner.crashes.test.ts",
      "packages/core/test/runner/OperationRunner.loop.test.ts"
    ],
    faults: [
      {
        id: "runner-held-owner",
        find: "it.lease_owner === worker && !isFinal(it.status)",
        put: "!isFinal(it.status)",
        why: "A worker that lost its lease records nothing."
      },
      {
        id: "runner-take-over",
        find: 'if (row.status === "running") return { operation: row, go: true }',
        put: 'if (row.status === "running") return { operation: row, go: false }',
        why: "An operation whose worker died is run again."
      },
      {
        id: "runner-take-over-begins",
        find: 'if (row.status === "running") return { operation: row, go: true } // taken over from a worker that died\n',
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
        id: "runner-retryable",
        find: "failure.retryable && failures_count <= retries",
        put: "failures_count <= retries",
        why: "What cannot be retried fails at once."
      },
      {
        id: "runner-retries",
        find: "failures_count <= retries",
        put: "failures_count < retries",
        why: "An operation is tried as often as the policy says."
      },
      {
        id: "runner-retries-forever",
        find: "failure.retryable && failures_count <= retries",
        put: "failure.retryable",
        why: "After the last try an operation has failed."
      },
      {
        id: "runner-failures-count",
        find: "row.failures_count + 1",
        put: "row.failures_count",
        why: "Failures are counted."
      },
      {
        id: "runner-retry-at",
        find: "              retry_at,\n              error",
        put: "              error",
        why: "A failed try is followed by a pause."
      },
      {
        id: "runner-retry-lease",
        find: "              lease_until: null\n",
        put: "              lease_until: row.lease_until\n",
        why: "The next try does not wait for the lease of the last."
      },
      {
        id: "runner-fail-gives-up",
        find: "yield* actions[row.action].giveUp(row)\n        yield* operations.move(row, failure",
        put: "yield* operations.move(row, failure",
        why: "An operation that failed leaves nothing pending."
      },
      {
        id: "runner-fail-status",
        find: 'failure.retryable ? "failed" : "error"',
        put: 'failure.retryable ? "error" : "failed"',
        why: "`failed` was tried to the end, `error` cannot be retried."
      },
      {
        id: "runner-fail-reason",
        find: "{ failures_count, error: failure.reason })",
        put: "{ failures_count })",
        why: "A failed operation says why."
      },
      {
        id: "runner-lease-kept",
        find: "while: (kept) => kept",
        put: "while: (kept) => !kept",
        why: "A lease is kept while the work takes."
      },
      {
        id: "runner-lease-outage",
        find: "Effect.orElseSucceed(() => true)",
        put: "Effect.orElseSucceed(() => false)",
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
        find: "Effect.catchDefect(address, (defect) =>",
        put: "Effect.catchDefect(Effect.orDie(address), (defect) =>",
        why: "A failure of the machines keeps its own reason, and a defect has none to show."
      },
      {
        id: "runner-pause-doubles",
        find: "250 * 2 ** failures",
        put: "250 * failures",
        why: "The pause between tries doubles."
      },
      {
        id: "runner-pause-longest",
        find: "Math.min(30_000, 250",
        put: "Math.max(30_000, 250",
        why: "The pause between tries is at most half a minute."
      },
      {
        id: "runner-none-due",
        find: "if (Option.isNone(due)) return false",
        put: "if (Option.isNone(due)) return true",
        why: "The runner says when nothing was due."
      },
      {
        id: "runner-loop-claim-outage",
        find: 'Effect.as(Effect.logError("Operations cannot be claimed.", cause), Option.none())',
        put: "Effect.failCause(cause)",
        why: "The runner survives an outage of the store."
      },
      {
        id: "runner-loop-leave",
        find: "Effect.ensuring(leave),",
        put: "",
        why: "A finished operation makes room for the next."
      },
      {
        id: "runner-loop-release",
        find: "          yield* places.release(1)\n          return",
        put: "          return",
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
        find: "Semaphore.make(concurrency)",
        put: "Semaphore.make(1)",
        why: "Operations of several branches run at once."
      }
    ]
  }
]
