/** What each action changes at its start and at its end. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "operations"
const tests = [
  "packages/core/test/runner/actions.test.ts",
  "packages/core/test/runner/OperationRunner.test.ts",
  "packages/core/test/runner/OperationRunner.failures.test.ts",
  "packages/core/test/runner/OperationRunner.order.test.ts",
  "packages/core/test/runner/OperationRunner.crashes.test.ts",
  "packages/core/test/provisioning/Endpoints.test.ts",
  "packages/core/test/proxying/ProxyRequests.test.ts",
  "packages/core/test/provisioning/Branches.test.ts",
  "packages/core/test/runner/Reconciler.test.ts",
  "packages/core/test/runner/Reconciler.idle.test.ts",
  "packages/core/test/provisioning/Credentials.test.ts"
]

export const operationActions: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/runner/actions/startCompute.ts",
    tests,
    faults: [
      {
        id: "start-generation",
        find: "generation: endpoint.generation + 1",
        put: "generation: endpoint.generation",
        why: "Each start is a new generation of the compute."
      },
      {
        id: "start-begin-address",
        find: '        pending_state: "active",\n        address: null,',
        put: '        pending_state: "active",',
        why: "While a compute starts its old address is not returned."
      },
      {
        id: "start-active",
        find: 'endpoint.disabled || endpoint.current_state === "active") return "skip"',
        put: 'endpoint.disabled) return "skip"',
        why: "An endpoint that runs is not started again."
      },
      {
        id: "start-disabled",
        find: "endpoint.disabled || endpoint.current_state",
        put: "endpoint.current_state",
        why: "A disabled endpoint is not started."
      },
      {
        id: "start-roles",
        find: "driver.start({ endpoint_id: id, branch_id, generation, roles })",
        put: "driver.start({ endpoint_id: id, branch_id, generation, roles: [] })",
        why: "A compute starts with the branch's roles."
      },
      {
        id: "start-complete-address",
        find: "address: compute?.address ?? null,",
        put: "address: null,",
        why: "A started endpoint has its compute's address."
      },
      {
        id: "start-complete-state",
        find: 'current_state: "active",\n      address',
        put: 'current_state: "idle",\n      address',
        why: "A started endpoint is active."
      },
      {
        id: "start-last-active",
        find: "      last_active_at: now,\n",
        put: "",
        why: "A compute that has just started counts as used."
      },
      {
        id: "start-give-up",
        find: "giveUp: (operation) => settleEndpoint(operation, {})",
        put: "giveUp: () => Effect.void",
        why: "An endpoint whose start failed is not pending."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/actions/suspendCompute.ts",
    tests,
    faults: [
      {
        id: "suspend-idle",
        find: 'endpoint.current_state !== "active") return "skip"',
        put: 'endpoint.disabled) return "skip"',
        why: "An endpoint that does not run is not suspended."
      },
      {
        id: "suspend-used",
        find: 'operation.initiator.type !== "system" || ',
        put: "",
        why: "A person's suspend counts although the compute is in use."
      },
      {
        id: "suspend-used-system",
        find: "(yield* idleStill(endpoint)) ?",
        put: "true ?",
        why: "A compute that is used after the system's decision is not suspended."
      },
      {
        id: "suspend-start-waits",
        find: "if (starts.length > 0) return false",
        put: "if (starts.length > 1) return false",
        why: "A compute that a client waits for is not suspended."
      },
      {
        id: "suspend-stop",
        find: "if (endpoint_id !== null) yield* (yield* ComputeDriver).stop(endpoint_id)",
        put: "",
        why: "A suspend stops the compute."
      },
      {
        id: "suspend-give-up",
        find: "giveUp: (operation) => settleEndpoint(operation, {})",
        put: "giveUp: () => Effect.void",
        why: "An endpoint whose suspend failed is not pending."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/projects/EndpointUse.ts",
    tests: ["packages/core/test/runner/Reconciler.idle.test.ts"],
    faults: [
      {
        id: "idle-busy",
        find: 'if (there.some(({ busy }) => busy > 0)) return "in_use"',
        put: "",
        why: "A compute with a busy session is not idle."
      },
      {
        id: "idle-fresh",
        find: "connections === 0 || age_ms <= fresh_ms",
        put: "true",
        why: "Idle sessions are confirmed by a fresh report."
      },
      {
        id: "idle-settle",
        find: "receiving_ms === null || receiving_ms < activityTiming.settle",
        put: "receiving_ms === null",
        why: "After an outage every proxy reports before anything is suspended."
      },
      {
        id: "idle-gone",
        find: "Math.min(age_ms, receiving_ms) <= activityTiming.gone",
        put: "age_ms <= activityTiming.gone",
        why: "A proxy is not forgotten for a time in which it could not report."
      },
      {
        id: "idle-started",
        find: "  !justStarted(use) &&\n",
        put: "",
        why: "Clients that woke a compute have the time to authenticate."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/projects/Endpoint.ts",
    tests,
    faults: [
      {
        id: "suspend-address",
        find: 'current_state: "idle", address: null,',
        put: 'current_state: "idle",',
        why: "A suspended endpoint has no address."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/branchData.ts",
    tests: ["packages/core/test/runner/branchData.test.ts"],
    faults: [
      {
        id: "copy-branch-gone",
        find: 'if (branch === undefined) return "skip"',
        put: 'if (branch === undefined) return "go"',
        why: "The timeline of a branch that is gone is not made."
      },
      {
        id: "copy-wait-parent",
        find: 'ofParent.length > 0 ? "wait" : "go"',
        put: 'ofParent.length > 1 ? "wait" : "go"',
        why: "A copy waits until the data of its parent is there."
      },
      {
        id: "copy-wait-data",
        find: "actions: [...writesData], limit: 1",
        put: "limit: writesData.size",
        why: "A copy waits for what writes its parent's data and for nothing else."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/actions/createBranch.ts",
    tests,
    faults: [
      {
        id: "create-ready",
        find: '    yield* settleBranch(operation, "ready")\n',
        put: "",
        why: "A branch is ready once its timeline is there."
      },
      {
        id: "create-new-endpoints",
        find: 'yield* settleNewEndpoints(operation, "idle")',
        put: "",
        why: "An endpoint made before its branch is ready with it."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/actions/resetBranch.ts",
    tests,
    faults: [
      {
        id: "reset-suspends",
        find: "yield* suspendEndpoints(operation)",
        put: "",
        why: "A reset suspends the branch's endpoints."
      },
      {
        id: "reset-give-up",
        find: 'giveUp: (operation) => settleBranch(operation, "ready")',
        put: "giveUp: () => Effect.void",
        why: "A branch whose reset failed is usable as it was."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/actions/applyConfig.ts",
    tests,
    faults: [
      {
        id: "apply-roles",
        find: "driver.applyRoles(branch, roles)",
        put: "driver.applyRoles(branch, [])",
        why: "A change of roles reaches the compute."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/settleEndpoint.ts",
    tests,
    faults: [
      {
        id: "pending-others",
        find: "unfinished.filter((it) => it.id !== operation.id)",
        put: "unfinished",
        why: "An operation that ends is not counted towards the desired state."
      },
      {
        id: "pending-same",
        find: "Option.isSome(by) && state !== settled.current_state ? state : null",
        put: "Option.isSome(by) ? state : null",
        why: "An endpoint that is in its desired state is not pending."
      }
    ]
  }
]
