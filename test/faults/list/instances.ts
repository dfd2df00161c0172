/** What holds with several instances: idempotent calls through a crash, and computes that another instance runs. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const instances: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/http/src/middleware/Idempotency.ts",
    tests: [
      "packages/http/test/handlers/idempotency.test.ts",
      "packages/http/test/handlers/idempotency.crashes.test.ts"
    ],
    faults: [
      {
        id: "idempotency-outside",
        find: "          if (committed && !(yield* complete(response))) return yield* inProgress(lease_until)\n",
        put: "",
        why: "The answer is stored in the transaction of the effect."
      },
      {
        id: "idempotency-superseded",
        find: "if (committed && !(yield* complete(response))) return yield* inProgress(lease_until)",
        put: "if (committed) yield* complete(response)",
        why: "An attempt that another one has replaced is rolled back."
      },
      {
        id: "idempotency-refusals",
        find: "    if (isStored(response)) yield* problems(complete(response))\n    else yield* abandon\n",
        put: "    yield* abandon\n",
        why: "A refusal is replayed too."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/Transaction.ts",
    tests: ["packages/http/test/handlers/idempotency.test.ts"],
    faults: [
      {
        id: "after-commit-inside",
        find: "collected === undefined ? work : Effect.sync(() => void collected.afterwards.push(work))",
        put: "collected === undefined ? work : Effect.void",
        why: "What waits for another process is run after the commit."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/runner/Reconciler.ts",
    tests: ["packages/core/test/proxying/ProxyRequests.lost.test.ts", "packages/core/test/runner/Reconciler.test.ts"],
    faults: [
      {
        id: "lost-generation",
        find: "endpoint === undefined || !endpoint.running || endpoint.generation !== generation",
        put: "endpoint === undefined || !endpoint.running",
        why: "A compute that was started since is not lost."
      },
      {
        id: "lost-there",
        find: "isLost(it) ? markLost(it)",
        put: "it.generation >= 0 ? markLost(it)",
        why: "A compute that runs is not taken for lost because a proxy could not connect to it."
      },
      {
        id: "doubt-unsure",
        find: "        if (Option.isNone(running)) return 0\n        const isLost",
        put: "        if (Option.isNone(running)) return yield* Effect.as(Effect.forEach(doubted, doubts.remove), 0)\n        const isLost",
        why: "A doubt stands until a driver has answered."
      },
      {
        id: "doubt-removed",
        find: "() => doubts.remove(it))",
        put: "() => Effect.void)",
        why: "A doubt is removed once it is verified."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/server/src/adapters/staticComputes.ts",
    tests: ["packages/server/test/adapters/staticComputes.test.ts"],
    faults: [
      {
        id: "static-again",
        find: "where not exists (select 1 from static_compute as given where given.address = listed.address)",
        put: "where not exists (select 1 from static_compute_running as given where given.branch_id = listed.address)",
        why: "A server is assigned to one branch for ever."
      },
      {
        id: "static-fence",
        find: "if (fence < row.fence)",
        put: "if (fence < 0)",
        why: "A call of a runner that lost its claim changes nothing."
      },
      {
        id: "static-left",
        find: "if (!addresses.includes(address))",
        put: "if (addresses.length === 0)",
        why: "A branch whose server left the list is refused."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/server/src/adapters/adminSession.ts",
    tests: ["packages/server/test/adapters/staticAdmin.test.ts"],
    faults: [
      {
        id: "static-pinned",
        find: "set local search_path = pg_catalog, pg_temp",
        put: "set local application_name = 'narthex supervisor'",
        why: "The admin runs no function of a writer."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/server/src/adapters/staticRoles.ts",
    tests: ["packages/server/test/adapters/staticRoles.test.ts"],
    faults: [
      {
        id: "static-former",
        find: "[...gone, ...(yield* former)]",
        put: "gone",
        why: "The sessions of roles that an earlier try retired end."
      },
      {
        id: "static-late-role",
        find: "      yield* confirm\n",
        put: "",
        why: "A call that was overtaken gives back no role that a later one has ended."
      },
      {
        id: "static-left-behind",
        find: "    yield* withdrawAll\n",
        put: "",
        why: "What a role left for PUBLIC ends with its rights."
      },
      {
        id: "static-sessions",
        find: "? ended : Effect.void",
        put: "? Effect.void : Effect.void",
        why: "A session that holds its role's row ends."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/server/src/controlPlaneAnswers.ts",
    tests: ["packages/server/test/controlPlaneAnswers.test.ts"],
    faults: [
      {
        id: "ready-refused",
        find: "(!failure.retryable || monotonic() - answered > patience)",
        put: "(monotonic() - answered > patience)",
        why: "A proxy with a refused token is not ready."
      },
      {
        id: "ready-patience",
        find: "(!failure.retryable || monotonic() - answered > patience)",
        put: "(!failure.retryable || monotonic() - answered >= 0)",
        why: "A proxy stays ready while its control plane is replaced."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/server/src/ClosingServer.ts",
    tests: ["packages/server/test/ClosingServer.test.ts"],
    faults: [
      {
        id: "closing-answers",
        find: "for (const response of this.#answering) endAfter(response)",
        put: "",
        why: "An answer after the end began says that its connection ends."
      },
      {
        id: "closing-idle",
        find: "if (this.#closesIdle) this.closeIdleConnections()",
        put: "",
        why: "A connection whose answer had begun closes with it."
      },
      {
        id: "closing-unread",
        find: "if (this.#connections.size === 0) return super.close(callback)",
        put: "return super.close(callback)",
        why: "A request that arrived before the end is answered."
      }
    ]
  }
]
