/** The runner of operations. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "operations"

const file = (name: string) => [`packages/core/test/runner/${name}.test.ts`]
const lease = file("OperationRunner.lease")
const failures = file("OperationRunner.failures")
const bounds = file("OperationRunner.bounds")
const promises = file("OperationRunner.promises")
const branchData = file("branchData")
const deletion = file("branchDeletion")
const actions = file("actions")
const places = file("OperationRunner.places")
const story = file("OperationRunner")
const loop = file("OperationRunner.loop")

export const operationRunner: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/runner/makePerformer.ts",
    tests: story,
    faults: [
      {
        id: "runner-held-owner",
        find: "it.lease_owner === worker && it.fence === operation.fence && !isFinal",
        put: "!isFinal",
        why: "A worker that lost its lease records nothing.",
        tests: failures
      },
      {
        id: "runner-held-fence",
        find: "it.lease_owner === worker && it.fence === operation.fence && !isFinal",
        put: "it.lease_owner === worker && !isFinal",
        why: "A worker that claimed an operation again records nothing for its earlier claim.",
        tests: bounds
      },
      {
        id: "runner-tenant",
        find: "Effect.provideService(ComputeTenant, tenantOf(operation))",
        put: "Effect.provideService(ComputeTenant, Effect.succeed(null))",
        why: "A driver whose computes share a machine knows whom it works for.",
        tests: bounds
      },
      {
        id: "runner-tenant-disk",
        find: "Effect.provideService(TenantDisk, quotas.bytesOfPerson(operation.org_id))",
        put: "Effect.provideService(TenantDisk, null)",
        why: "A driver whose computes share a disk knows what the person takes of it.",
        tests: bounds
      },
      {
        id: "runner-take-over",
        find: 'if (row.status !== "scheduling") return { operation: row, go: true }',
        put: 'if (row.status !== "scheduling") return { operation: row, go: false }',
        why: "An operation whose worker died is run again.",
        tests: lease
      },
      {
        id: "runner-take-over-begins",
        find: 'if (row.status !== "scheduling") return { operation: row, go: true }',
        put: "",
        why: "An operation that is taken over does not begin twice.",
        tests: lease
      },
      {
        id: "runner-wait",
        find: 'if (answer === "wait") return { operation: yield* putBack(row), go: false }',
        put: 'if (answer === "wait") return { operation: row, go: false }',
        why: "An operation that has to wait is given back.",
        tests: branchData
      },
      {
        id: "runner-wait-pause",
        find: 'if (answer === "wait") return',
        put: 'if (answer === "never") return',
        why: "An operation waits for the branch that it copies.",
        tests: branchData
      },
      {
        id: "runner-skip-gives-up",
        find: 'yield* giveUp(row)\n        return { operation: yield* operations.move(row, "skipped")',
        put: 'return { operation: yield* operations.move(row, "skipped")',
        why: "A skipped operation leaves nothing pending.",
        tests: actions
      },
      {
        id: "runner-skipped",
        find: 'operations.move(row, "skipped"), go: false',
        put: 'operations.move(row, "skipped"), go: true',
        why: "A skipped operation is not performed.",
        tests: branchData
      },
      {
        id: "runner-complete",
        find: "Effect.andThen(actions[row.action].complete(row, compute), operations.move",
        put: "Effect.andThen(Effect.void, operations.move",
        why: "What an operation changed is recorded with its end.",
        tests: story
      },
      {
        id: "runner-finish-error",
        find: '"finished", { error: null }',
        put: '"finished", {}',
        why: "A finished operation has no error of an earlier try.",
        tests: failures
      },
      {
        id: "runner-retry-lease",
        find: "...row, ...next.changes, updated_at, lease_until: null",
        put: "...row, ...next.changes, updated_at",
        why: "The next try does not wait for the lease of the last.",
        tests: failures
      },
      {
        id: "runner-fail-gives-up",
        find: "yield* actions[row.action].giveUp(row)\n        yield* operations.move(row, next",
        put: "yield* operations.move(row, next",
        why: "An operation that failed leaves nothing pending.",
        tests: failures
      },
      {
        id: "runner-lease-kept",
        find: 'if (answer !== "kept") return answer',
        put: "return answer",
        why: "A lease is kept while the work takes.",
        tests: lease
      },
      {
        id: "runner-lease-outage",
        find: '() => "kept" as const',
        put: '() => "lost" as const',
        why: "A store that cannot be reached for a moment loses no lease.",
        tests: lease
      },
      {
        id: "runner-lease-third",
        find: "Duration.times(lease, 1 / 3)",
        put: "Duration.times(lease, 2)",
        why: "A lease is extended before it ends.",
        tests: lease
      },
      {
        id: "runner-defect",
        find: "Effect.catchDefect(\n      address,",
        put: "Effect.catchDefect(\n      Effect.orDie(address),",
        why: "A failure of the machines keeps its own reason, and a defect has none to show.",
        tests: failures
      },
      {
        id: "runner-deadline",
        find: "Effect.sleep(deadline)",
        put: "Effect.sleep(Duration.times(deadline, 0.5))",
        why: "A call of the driver has the time that its class allows.",
        tests: bounds
      },
      {
        id: "runner-fence",
        find: "Effect.provideService(ComputeFence, operation.fence)",
        put: "(it) => it",
        why: "The driver knows the claim that it is called for.",
        tests: bounds
      },
      {
        id: "runner-undo",
        find: 'if ((yield* decide(operation, failure)).kind === "end") yield* undone(operation)\n',
        put: "",
        why: "A start that failed for good leaves no compute that no record shows.",
        tests: bounds
      },
      {
        id: "runner-obsolete",
        find: '(obsolete ? ("obsolete" as const) : ("open" as const))',
        put: '"open" as const',
        why: "Roles of a deleted branch are not applied for ever.",
        tests: promises
      },
      {
        id: "runner-log-detail",
        find: "detail: failure.detail ?? failure.reason",
        put: "detail: failure.reason",
        why: "The operator's log says what the machine said.",
        tests: bounds
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/OperationRunner.ts",
    tests: loop,
    faults: [
      {
        id: "runner-none-due",
        find: "if (Option.isNone(due)) continue",
        put: "if (Option.isNone(due)) return true",
        why: "The runner says when nothing was due.",
        tests: lease
      },
      {
        id: "runner-loop-claim-outage",
        find: 'Effect.logError("Operations cannot be claimed.").pipe(',
        put: "Effect.failCause(cause).pipe(",
        why: "The runner survives an outage of the store.",
        tests: lease
      },
      {
        id: "runner-loop-leave",
        find: "Effect.andThen(counted(-1), places.release(1))",
        put: "counted(-1)",
        why: "A finished operation makes room for the next.",
        tests: places
      },
      {
        id: "runner-loop-release",
        find: "            yield* places.release(1)\n            return",
        put: "            return",
        why: "Looking for work takes no place for ever.",
        tests: places
      },
      {
        id: "runner-loop-nudge",
        find: "Effect.timeoutOption(Queue.take(nudges), poll)",
        put: "Effect.asVoid(Effect.sleep(poll))",
        why: "A nudge makes the runner look at once.",
        tests: loop
      },
      {
        id: "runner-loop-poll",
        find: "Effect.timeoutOption(Queue.take(nudges), poll)",
        put: "Queue.take(nudges)",
        why: "The runner looks again although no hint came.",
        tests: loop
      },
      {
        id: "runner-loop-concurrency",
        find: "Semaphore.make(classes[of].places)",
        put: "Semaphore.make(1)",
        why: "Operations of several branches run at once.",
        tests: places
      },
      {
        id: "runner-loop-give-back",
        find: "Effect.onInterrupt(() => Effect.ignore(performer.giveBack(operation)))",
        put: "Effect.onInterrupt(() => Effect.void)",
        why: "A runner that stops gives its operations back.",
        tests: loop
      }
    ]
  },
  {
    area,
    file: "packages/core/src/provisioning/endBranch.ts",
    tests: deletion,
    faults: [
      {
        id: "deletion-cancels-configuration",
        find: 'if (row.status === "scheduling") yield* operations.move(row, "cancelled")',
        put: 'if (row.status === "scheduling") yield* Effect.void',
        why: "The deletion of a branch cancels roles that are not being applied yet."
      },
      {
        id: "deletion-due",
        find: "new StoredOperation({ ...row, retry_at: null })",
        put: "row",
        why: "The deletion of a branch does not wait for the back-off of its roles."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/provisioning/Branches.ts",
    tests: deletion,
    faults: [
      {
        id: "deletion-not-busy",
        find: 'isFree(branch.id, "apply_config")',
        put: "isFree(branch.id)",
        why: "Roles that cannot be applied do not keep a branch from its deletion."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/afterFailure.ts",
    tests: deletion,
    faults: [
      {
        id: "deletion-last-try",
        find: 'if (promise === "obsolete")',
        put: "if (failed < 0)",
        why: "Roles of a deleted branch are not tried again after a failure, also where the machine has no room."
      }
    ]
  }
]
