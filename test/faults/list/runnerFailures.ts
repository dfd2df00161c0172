/** What the runner does after failures, and with calls that hang. */
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

export const runnerFailures: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/runner/afterFailure.ts",
    tests,
    faults: [
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
        find: "const failures_count = failed + 1",
        put: "const failures_count = failed",
        why: "Failures are counted."
      },
      {
        id: "runner-retry-at",
        find: "{ busy_since: null, error: failure.reason, failures_count, retry_at }",
        put: "{ busy_since: null, error: failure.reason, failures_count, retry_at: null }",
        why: "A failed try is followed by a pause."
      },
      {
        id: "runner-fail-status",
        find: 'failure.retryable ? "failed" : "error"',
        put: 'failure.retryable ? "error" : "failed"',
        why: "`failed` was tried to the end, `error` cannot be retried."
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
        id: "runner-busy-counts",
        find: "error: failure.reason, failures_count: failed, retry_at",
        put: "error: failure.reason, failures_count: failed + 1, retry_at",
        why: "Waiting for room is not a failure."
      },
      {
        id: "runner-busy-limit",
        find: "endless || Duration.isLessThan(waited, busy_limit)",
        put: "true",
        why: "An operation that finds no room for an hour fails."
      },
      {
        id: "runner-busy-since",
        find: "operation.busy_since ?? now",
        put: "now",
        why: "The time without room is counted from its beginning."
      },
      {
        id: "runner-busy-jitter",
        find: "(0.5 + random / 2)",
        put: "1",
        why: "Operations that wait for the same room come back apart."
      },
      {
        id: "runner-endless",
        find: "endless || (failure.retryable && failures_count <= retries)",
        put: "failure.retryable && failures_count <= retries",
        why: "A revocation is tried until it has succeeded."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/abandonable.ts",
    tests: ["packages/core/test/runner/abandonable.test.ts"],
    faults: [
      {
        id: "runner-abandon-grace",
        find: "const timing = yield* Effect.forkDetach(Effect.andThen(Effect.sleep(grace), end))",
        put: "const timing = yield* Effect.forkDetach(Effect.andThen(Effect.never, end))",
        why: "A call that cannot be interrupted is not waited for."
      }
    ]
  }
]
