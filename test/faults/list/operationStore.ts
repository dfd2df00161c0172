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
        find: "      org_id: _org,\n      ...shown",
        put: "      org_id: _org,\n      error: _error,\n      ...shown",
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
        id: "store-person",
        find: "personOf: (org) => Effect.map(people, (person) => person(org))",
        put: "personOf: (org) => Effect.succeed(org)",
        why: "The organizations of a person count for that person on the machines too."
      },
      {
        id: "store-extend-owner",
        find: "row.id === id && row.lease_owner === worker &&",
        put: "row.id === id &&",
        why: "Only the worker that holds a lease extends it."
      },
      {
        id: "store-extend-fence",
        find: " && row.fence === fence)",
        put: ")",
        why: "An earlier claim of the same worker holds nothing."
      },
      {
        id: "store-extend-until",
        find: "new StoredOperation({ ...held, lease_until }))",
        put: "held)",
        why: "An extended lease ends later."
      },
      {
        id: "store-turns",
        find: "yield* turns.put(key, { key, served: fence })",
        put: "yield* turns.put(key, { key, served: 0 })",
        why: "Organizations and projects take turns."
      },
      {
        id: "store-list-branch",
        find: "row.project_id === project && fits(row, filter)",
        put: "row.project_id === project",
        why: "A list has only the operations that fit its filter."
      },
      {
        id: "store-list-project",
        find: "row.project_id === project && fits",
        put: "fits",
        why: "A project's list has no operation of another project."
      },
      {
        id: "store-unfinished",
        find: "open(rows)\n              .filter((row) => row.branch_id === branch",
        put: "rows\n              .filter((row) => row.branch_id === branch",
        why: "Final operations are not among the unfinished."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/operations/OperationFilter.ts",
    tests: [
      "packages/core/test/operations/OperationFilter.test.ts",
      "packages/core/test/operations/OperationStore.test.ts"
    ],
    faults: [
      {
        id: "operation-filter-other-branch",
        find: "if (scope !== null && wanted !== undefined && wanted !== scope) return null",
        put: "",
        why: "A key of one branch that filters by another one gets an empty list."
      },
      {
        id: "operation-filter-scope",
        find: "const branch = scope ?? wanted",
        put: "const branch = wanted",
        why: "A key of one branch lists that branch, also without a filter by branch."
      },
      {
        id: "operation-filter-impossible",
        find: "requestedId(EndpointId, endpoint_id)",
        put: "endpoint_id",
        why: "An id that storage cannot hold is answered like an unknown one."
      },
      {
        id: "operation-filter-action",
        find: "(action === undefined || operation.action === action) &&",
        put: "",
        why: "An operation fits every member of the filter."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/operations/OperationClass.ts",
    tests: [
      "packages/core/test/runner/OperationRunner.places.test.ts",
      "packages/core/test/operations/OperationStore.test.ts"
    ],
    faults: [
      {
        id: "claim-deletion-behind-copies",
        find: 'delete_timeline: "deletions"',
        put: 'delete_timeline: "branches"',
        why: "The end of a deleted branch waits for no copy."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/migrations/0019_deletions.ts",
    tests: ["packages/postgres/test/stores/claims.test.ts"],
    faults: [
      {
        id: "pg-claim-deletion-class",
        find: "when action = 'delete_timeline' then 'deletions'\n    ",
        put: "",
        why: "The classes of actions are those of the core."
      },
      {
        id: "pg-claim-older-runner",
        find: "if p_class = 'branches' and not found then",
        put: "if false then",
        why: "A runner of an earlier release claims deletions."
      }
    ]
  }
]
