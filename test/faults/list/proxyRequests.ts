/** Requests of proxies, and endpoints. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyRequests: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/core/src/operations/OperationWaits.ts",
    tests: [
      "packages/core/test/proxying/ProxyRequests.lost.test.ts",
      "packages/core/test/proxying/ProxyRequests.test.ts"
    ],
    faults: [
      {
        id: "waits-final",
        find: "if (isOver(found)) return found",
        put: "if (Option.isNone(found)) return found",
        why: "A wait ends when the operation does."
      },
      {
        id: "waits-over",
        find: "Effect.timeoutOption(Deferred.await(watch.ended), within)",
        put: 'Effect.timeoutOption(Deferred.await(watch.ended), "1 day")',
        why: "A wait ends when its time is over."
      },
      {
        id: "waits-gone",
        find: "Option.isNone(found) || isFinal(found.value.status)",
        put: "Option.isSome(found) && isFinal(found.value.status)",
        why: "A wait for an operation that does not exist ends at once."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/proxying/ProxyRequests.ts",
    tests: [
      "packages/core/test/proxying/ProxyRequests.lost.test.ts",
      "packages/core/test/proxying/ProxyRequests.test.ts"
    ],
    faults: [
      {
        id: "wake-permits",
        find: "if (!permits(rules, address, yield* DateTime.now)) return yield* new AddressNotListed({ address })",
        put: "",
        why: "An address that is not listed wakes nothing."
      },
      {
        id: "wake-doubt",
        find: "if (!endpoint.running || endpoint.generation !== generation) return false\n        yield* doubts.record",
        put: "if (!endpoint.running) return false\n        yield* doubts.record",
        why: "A doubt about an earlier generation is none about the present one."
      },
      {
        id: "wake-verified",
        find: "yield* verified({ endpoint_id: id, generation: unreachable })",
        put: "yield* Effect.void",
        why: "A wake waits until the doubt is verified, and then starts another compute."
      },
      {
        id: "wake-doubt-bound",
        find: ".pipe(Effect.timeoutOption(doubtTimeout))",
        put: "",
        why: "A wake without a runner ends."
      },
      {
        id: "wake-awake",
        find: "if (operation === undefined && endpoint.address !== null)",
        put: "if (endpoint.address !== null)",
        why: "A wake waits for the start that is under way."
      },
      {
        id: "wake-skipped",
        find: 'settled?.status !== "finished" && settled?.status !== "skipped"',
        put: 'settled?.status !== "finished"',
        why: "A start that found the compute running is as good as one."
      },
      {
        id: "wake-failed",
        find: 'if (settled?.status !== "finished" && settled?.status !== "skipped")',
        put: 'if (settled?.status === "scheduling")',
        why: "A wake fails when the start does."
      },
      {
        id: "wake-reason",
        find: "settled?.error ?? notInTime",
        put: "notInTime",
        why: "A failed wake says why."
      },
      {
        id: "wake-lists-gone",
        find: "const existing = yield* Effect.filter(ids, (id) => Effect.map(projects.findAnywhere(id), Option.isSome))",
        put: "const existing = ids",
        why: "A project that is gone has no list."
      },
      {
        id: "wake-disabled",
        find: 'endpoint, "active", byProxy)',
        put: 'endpoint, "idle", byProxy)',
        why: "A wake starts the endpoint."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/provisioning/Endpoints.ts",
    tests: ["test/races/agentEndpoints.test.ts"],
    faults: [
      {
        id: "endpoint-agent-again",
        find: "if (isAgent(caller)) {",
        put: "if (false) {",
        why: "An agent's change of an endpoint is decided again under the branch's lock."
      },
      {
        id: "endpoint-agent-create",
        find: "const refusal = decideTarget({ agent: endpointsByAgents }, caller, branch)",
        put: "const refusal = undefined",
        why: "An agent adds no endpoint to main."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/provisioning/Endpoints.ts",
    tests: [
      "packages/core/test/proxying/ProxyRequests.lost.test.ts",
      "packages/core/test/provisioning/Endpoints.test.ts",
      "packages/core/test/proxying/ProxyRequests.test.ts"
    ],
    faults: [
      {
        id: "endpoint-disabled",
        find: 'if (state === "active" && given.disabled)',
        put: 'if (given.disabled && state === "idle")',
        why: "A disabled endpoint does not start."
      },
      {
        id: "endpoint-desired",
        find: "if (desired.state === state) return { endpoint, operations: Option.toArray(desired.by) }",
        put: "if (endpoint.current_state === state) return { endpoint, operations: [] }",
        why: "What counts is the desired state, not the current one."
      },
      {
        id: "endpoint-desired-by",
        find: "operations: Option.toArray(desired.by)",
        put: "operations: []",
        why: "A second start answers the operation of the first."
      },
      {
        id: "endpoint-action",
        find: 'state === "active" ? "start_compute" : "suspend_compute"',
        put: '"start_compute"',
        why: "A suspend suspends."
      },
      {
        id: "endpoint-pending",
        find: "pending_state: state,",
        put: "pending_state: endpoint.pending_state,",
        why: "An endpoint shows its desired state as pending."
      },
      {
        id: "endpoint-second",
        find: 'if (!(yield* store.put(endpoint)))\n            return yield* new Conflict({ reason: "The branch has a read-write endpoint already." })',
        put: "yield* store.put(endpoint)",
        why: "A branch has one read-write endpoint."
      },
      {
        id: "endpoint-change-disable",
        find: "if (!disabled || endpoint.disabled) return",
        put: "if (disabled || endpoint.disabled) return",
        why: "Disabling an endpoint stops its compute."
      },
      {
        id: "endpoint-change-keep",
        find: "changes.disabled ?? endpoint.disabled",
        put: "changes.disabled ?? false",
        why: "A change leaves alone what it does not name."
      },
      {
        id: "endpoint-change-timeout",
        find: "changes.suspend_timeout_seconds ?? endpoint.suspend_timeout_seconds",
        put: "endpoint.suspend_timeout_seconds",
        why: "A change of the suspend timeout is stored."
      },
      {
        id: "endpoint-remove",
        find: "yield* store.markDeleted(endpoint.id, yield* DateTime.now)",
        put: "",
        why: "A removed endpoint is gone."
      },
      {
        id: "endpoint-remove-work",
        find: '"delete_compute", initiatorOf(caller))]',
        put: '"suspend_compute", initiatorOf(caller))]',
        why: "Removing an endpoint deletes its compute."
      }
    ]
  }
]
