/** How operations are scheduled and moved. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const operationChanges: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/core/src/operations/Operations.ts",
    tests: [
      "packages/core/test/operations/Operations.moves.test.ts",
      "packages/core/test/operations/operationUpdated.test.ts",
      "packages/core/test/runner/OperationRunner.test.ts",
      "packages/core/test/operations/Operation.test.ts",
      "packages/core/test/runner/OperationRunner.failures.test.ts"
    ],
    faults: [
      {
        id: "move-illegal",
        find: "if (!mayMove(operation.status, status))",
        put: "if (false)",
        why: "An illegal move is a defect."
      },
      {
        id: "move-started",
        find: 'started_at: status === "running" ? now : operation.started_at',
        put: "started_at: operation.started_at",
        why: "An operation says since when it runs."
      },
      {
        id: "move-started-kept",
        find: 'started_at: status === "running" ? now : operation.started_at',
        put: "started_at: now",
        why: "The end of an operation leaves its start as it was."
      },
      {
        id: "move-finished",
        find: 'finished_at: status === "running" || status === "cancelling" ? null : now',
        put: "finished_at: null",
        why: "A final operation says when it ended."
      },
      {
        id: "move-finished-running",
        find: 'finished_at: status === "running" || status === "cancelling" ? null : now',
        put: "finished_at: now",
        why: "A running operation has no end."
      },
      {
        id: "move-lease",
        find: ": { lease_owner: null, lease_until: null, retry_at: null, busy_since: null })",
        put: ": { retry_at: null })",
        why: "A final operation is leased to no worker."
      },
      {
        id: "move-announce",
        find: "        yield* store.update(moved)\n        yield* announce(moved)",
        put: "        yield* store.update(moved)",
        why: "Each change of status is an event."
      },
      {
        id: "move-store",
        find: "        yield* store.update(moved)\n",
        put: "",
        why: "A move is stored."
      },
      {
        id: "schedule-announce",
        find: "        yield* announce(operation)\n",
        put: "",
        why: "A scheduled operation is an event."
      },
      {
        id: "schedule-insert",
        find: "        yield* store.insert(operation)\n",
        put: "",
        why: "A scheduled operation is stored."
      },
      {
        id: "announce-internal",
        find: "internal: false,",
        put: "internal: true,",
        why: "Clients see the events of operations."
      },
      {
        id: "announce-project",
        find: "project_id: operation.project_id,\n          type",
        put: "project_id: null,\n          type",
        why: "The events of operations belong to their project."
      },
      {
        id: "event-absent",
        find: "value === null ? [] : [[name, value]]",
        put: '[[name, value ?? ""]]',
        why: "In event data an absent fact is missing."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/operations/Operations.ts",
    tests: [
      "packages/core/test/operations/Operations.moves.test.ts",
      "packages/core/test/provisioning/Endpoints.test.ts"
    ],
    faults: [
      {
        id: "initiator-key",
        find: 'type: "api_key", id: caller.api_key_id',
        put: 'type: "api_key", id: caller.user.id',
        why: "An operation that a key asked for names the key."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/operations/desiredState.ts",
    tests: [
      "packages/core/test/operations/Operation.test.ts",
      "packages/core/test/operations/Operations.moves.test.ts",
      "packages/core/test/provisioning/Endpoints.test.ts"
    ],
    faults: [
      {
        id: "desired-last",
        find: "unfinished.findLast(",
        put: "unfinished.find(",
        why: "The newest unfinished operation decides the desired state."
      },
      {
        id: "desired-endpoint",
        find: "operation.endpoint_id === endpoint.id &&",
        put: "",
        why: "Operations of other endpoints say nothing about this one."
      },
      {
        id: "desired-state",
        find: 'endpoint.current_state === "active" ? "active" : "idle", by: Option.none()',
        put: '"idle", by: Option.none()',
        why: "An endpoint that runs and has no unfinished operation stays active."
      },
      {
        id: "desired-start",
        find: 'last.action === "start_compute" ? "active" : "idle"',
        put: '"active"',
        why: "An unfinished suspend makes the desired state idle."
      },
      {
        id: "desired-suspend",
        find: '(operation.action === "start_compute" || operation.action === "suspend_compute")',
        put: 'operation.action === "start_compute"',
        why: "An unfinished suspend counts."
      },
      {
        id: "desired-reset",
        find: 'operation.action === "reset_branch" ||',
        put: "",
        why: "A reset of its branch stops an endpoint."
      }
    ]
  }
]
