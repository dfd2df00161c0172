/** What each operation changes at its start and at its end. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const operationActions: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/core/src/runner/performOperation.ts",
    tests: [
      "packages/core/test/runner/performOperation.test.ts",
      "packages/core/test/runner/OperationRunner.test.ts",
      "packages/core/test/runner/OperationRunner.failures.test.ts",
      "packages/core/test/runner/OperationRunner.order.test.ts",
      "packages/core/test/runner/OperationRunner.crashes.test.ts",
      "packages/core/test/provisioning/Endpoints.test.ts",
      "packages/core/test/proxying/Wakes.test.ts",
      "packages/core/test/provisioning/Branches.test.ts",
      "packages/core/test/runner/Housekeeping.test.ts",
      "packages/core/test/provisioning/Credentials.test.ts"
    ],
    faults: [
      {
        id: "perform-generation",
        find: "generation: generation + 1",
        put: "generation",
        why: "Each start is a new generation of the compute."
      },
      {
        id: "perform-start-address",
        find: '      pending_state: "active",\n      address: null',
        put: '      pending_state: "active"',
        why: "While a compute starts its old address is not answered."
      },
      {
        id: "perform-start-active",
        find: 'endpoint.value.disabled || endpoint.value.current_state === "active") return "skip"',
        put: 'endpoint.value.disabled) return "skip"',
        why: "An endpoint that runs is not started again."
      },
      {
        id: "perform-start-disabled",
        find: "endpoint.value.disabled || endpoint.value.current_state",
        put: "endpoint.value.current_state",
        why: "A disabled endpoint is not started."
      },
      {
        id: "perform-suspend-idle",
        find: 'endpoint.value.current_state !== "active") return "skip"',
        put: 'endpoint.value.disabled) return "skip"',
        why: "An endpoint that does not run is not suspended."
      },
      {
        id: "perform-suspend-used",
        find: 'operation.initiator.type === "system" && (yield* usedSince',
        put: "(yield* usedSince",
        why: "A person's suspend counts although the compute was used since."
      },
      {
        id: "perform-suspend-used-system",
        find: 'if (operation.initiator.type === "system" && (yield* usedSince(operation, endpoint.value))) return "skip"',
        put: "",
        why: "A compute that was used after the system's decision is not suspended."
      },
      {
        id: "perform-used-since",
        find: "DateTime.isGreaterThan(endpoint.last_active_at, operation.created_at)",
        put: "DateTime.isGreaterThan(operation.created_at, endpoint.last_active_at)",
        why: "Use after the decision counts, use before does not."
      },
      {
        id: "perform-branch-gone",
        find: 'if (branch === undefined) return "skip"',
        put: 'if (branch === undefined) return "go"',
        why: "The timeline of a branch that is gone is not made."
      },
      {
        id: "perform-wait-parent",
        find: 'fills.has(action)) ? "wait" : "go"',
        put: 'fills.has(action)) ? "go" : "go"',
        why: "A copy waits until its original is filled."
      },
      {
        id: "perform-wait-filling",
        find: "ofParent.some(({ action }) => fills.has(action))",
        put: "ofParent.length > 0",
        why: "A copy waits for what fills its original and for nothing else."
      },
      {
        id: "perform-roles",
        find: "const roles = yield* validRoles(branch_id)",
        put: "const roles: Effect.Success<ReturnType<typeof validRoles>> = []",
        why: "A compute starts with the branch's roles."
      },
      {
        id: "perform-apply-roles",
        find: "yield* driver.applyRoles(branch_id, yield* validRoles(branch_id))",
        put: "yield* driver.applyRoles(branch_id, [])",
        why: "A change of roles reaches the compute."
      },
      {
        id: "perform-stop",
        find: "if (endpoint_id !== null) yield* driver.stop(endpoint_id)",
        put: "",
        why: "A suspend stops the compute."
      },
      {
        id: "complete-address",
        find: "        address,\n        connections",
        put: "        connections",
        why: "A started endpoint has its compute's address."
      },
      {
        id: "complete-started-state",
        find: 'current_state: "active",\n        address',
        put: 'current_state: "idle",\n        address',
        why: "A started endpoint is active."
      },
      {
        id: "complete-suspend-address",
        find: 'current_state: "idle",\n        address: null',
        put: 'current_state: "idle"',
        why: "A suspended endpoint has no address."
      },
      {
        id: "complete-last-active",
        find: "        last_active_at: now,\n",
        put: "",
        why: "A compute that has just started counts as used."
      },
      {
        id: "complete-ready",
        find: 'case "create_branch":\n      yield* changeBranch(operation, "ready")\n      return',
        put: 'case "create_branch":\n      return',
        why: "A branch is ready once its timeline is there."
      },
      {
        id: "complete-settle-unmade",
        find: 'return yield* settleUnmade(operation, "idle")',
        put: "return",
        why: "An endpoint made before its branch is ready with it."
      },
      {
        id: "complete-reset-rest",
        find: 'yield* changeBranch(operation, "ready")\n      return yield* restEndpoints(operation)',
        put: 'return yield* changeBranch(operation, "ready")',
        why: "A reset brings the branch's endpoints to rest."
      },
      {
        id: "give-up-branch",
        find: 'if (operation.action === "reset_branch") yield* changeBranch(operation, "ready")',
        put: "",
        why: "A branch whose reset failed is usable as it was."
      },
      {
        id: "give-up-endpoint",
        find: 'if (operation.action === "start_compute" || operation.action === "suspend_compute")\n    yield* settleEndpoint(operation, {})',
        put: "",
        why: "An endpoint whose start failed is not pending."
      },
      {
        id: "pending-others",
        find: ".filter((it) => it.id !== operation.id)",
        put: "",
        why: "An operation that ends is not what its endpoint is headed for."
      },
      {
        id: "pending-same",
        find: "Option.isSome(by) && state !== endpoint.current_state ? state : null",
        put: "Option.isSome(by) ? state : null",
        why: "An endpoint that is where it is headed is not pending."
      }
    ]
  }
]
