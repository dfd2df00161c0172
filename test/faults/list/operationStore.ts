/** Operations: their states, and who works on which. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const operationStore: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/core/src/operations/Operation.ts",
    tests: [
      "packages/core/test/operations/Operations.moves.test.ts",
      "packages/core/test/operations/Operation.test.ts"
    ],
    faults: [
      {
        id: "operation-skip-running",
        find: 'scheduling: ["running", "skipped", "cancelled"]',
        put: 'scheduling: ["running", "skipped", "cancelled", "finished"]',
        why: "An operation does not finish without having run."
      },
      {
        id: "operation-finished-final",
        find: "finished: [],",
        put: 'finished: ["running"],',
        why: "A finished operation never runs again."
      },
      {
        id: "operation-cancelling-end",
        find: 'cancelling: ["cancelled", "finished", "failed", "error"]',
        put: 'cancelling: ["cancelled"]',
        why: "An operation that is being cancelled may still finish."
      },
      {
        id: "operation-running-back",
        find: 'running: ["finished", "failed", "error", "cancelling"]',
        put: 'running: ["finished", "failed", "error", "cancelling", "scheduling"]',
        why: "A running operation does not go back: its retries stay inside `running`."
      },
      {
        id: "operation-final",
        find: "next[status].length === 0",
        put: 'status === "finished"',
        why: "Failed, cancelled and skipped operations are final too."
      },
      {
        id: "operation-view",
        find: "const { lease_owner: _owner, lease_until: _until, org_id: _org, ...shown } = this",
        put: "const { lease_owner: _owner, lease_until: _until, org_id: _org, error: _error, ...shown } = this",
        why: "The API shows an operation's error."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/operations/OperationStore.ts",
    tests: ["packages/core/test/operations/OperationStore.test.ts"],
    faults: [
      {
        id: "store-claim-leased",
        find: "past(row.lease_until, now) &&",
        put: "",
        why: "A leased operation is not claimed by another worker."
      },
      {
        id: "store-claim-retry",
        find: "past(row.retry_at, now) &&",
        put: "",
        why: "An operation is not claimed before its retry."
      },
      {
        id: "store-past-instant",
        find: "DateTime.isLessThanOrEqualTo(instant, now)",
        put: "DateTime.isLessThan(instant, now)",
        why: "A lease is over at its very instant."
      },
      {
        id: "store-past-null",
        find: "instant === null || DateTime",
        put: "instant !== null && DateTime",
        why: "An operation without lease and retry is due."
      },
      {
        id: "store-claim-order",
        find: "earlier.branch_id !== null && earlier.branch_id === row.branch_id",
        put: "false",
        why: "Operations of one branch run one after another."
      },
      {
        id: "store-claim-no-branch",
        find: "earlier.branch_id !== null && earlier.branch_id === row.branch_id",
        put: "earlier.branch_id === row.branch_id",
        why: "Operations without a branch do not wait for each other."
      },
      {
        id: "store-claim-other-branch",
        find: "earlier.branch_id !== null && earlier.branch_id === row.branch_id",
        put: "earlier.branch_id !== null",
        why: "An operation waits for its own branch only."
      },
      {
        id: "store-claim-final",
        find: "const waiting = open(yield* inOrder)",
        put: "const waiting = yield* inOrder",
        why: "A final operation is never claimed, nor waited for."
      },
      {
        id: "store-claim-owner",
        find: "lease_owner: worker, lease_until })\n              yield*",
        put: "lease_owner: worker, lease_until: due.lease_until })\n              yield*",
        why: "A claimed operation is leased."
      },
      {
        id: "store-extend-owner",
        find: "row.id === id && row.lease_owner === worker &&",
        put: "row.id === id &&",
        why: "Only the worker that holds a lease extends it."
      },
      {
        id: "store-extend-final",
        find: "row.lease_owner === worker && !isFinal(row.status)",
        put: "row.lease_owner === worker",
        why: "The lease of a final operation cannot be extended."
      },
      {
        id: "store-extend-until",
        find: "new StoredOperation({ ...held, lease_until })",
        put: "held",
        why: "An extended lease ends later."
      },
      {
        id: "store-list-branch",
        find: "row.project_id === project && (branch === null || row.branch_id === branch)",
        put: "row.project_id === project",
        why: "A list of one branch has that branch's operations."
      },
      {
        id: "store-list-project",
        find: "row.project_id === project && (branch",
        put: "(branch",
        why: "A project's list has no operation of another project."
      },
      {
        id: "store-unfinished",
        find: "open(rows).filter((row) => row.branch_id === branch)",
        put: "rows.filter((row) => row.branch_id === branch)",
        why: "Final operations are not among the unfinished."
      }
    ]
  }
]
