/** Contracts of ports, and the assertions that they are made of. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const contracts: ReadonlyArray<FaultsOfFile> = [
  {
    area: "testing",
    file: "packages/core/testing/contract.ts",
    tests: ["packages/core/test/contracts/runners.test.ts"],
    faults: [
      {
        id: "contract-released",
        find: "Scope.close(scope, Exit.void)",
        put: "Effect.succeed(Exit.void).pipe(Effect.asVoid)",
        why: "The adapter is released after the last case."
      },
      {
        id: "contract-aborted",
        find: "? { signal: context.signal } : {}",
        put: "? {} : {}",
        why: "An aborted test interrupts its case."
      },
      {
        id: "contract-callback",
        find: "(...[context]) =>",
        put: "(context) =>",
        why: "Jest takes a test with a named parameter for one with a callback."
      }
    ]
  },
  {
    area: "testing",
    file: "packages/core/testing/assert.ts",
    tests: ["packages/core/test/contracts/assert.test.ts"],
    faults: [
      {
        id: "assert-class",
        find: "if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false",
        put: "",
        why: "A row that is no instance of its model does not equal one."
      },
      {
        id: "assert-more-members",
        find: "keys.length === own(b).length &&",
        put: "",
        why: "A record with another member is another record."
      },
      {
        id: "assert-lasting",
        find: "if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]))",
        put: "if (Array.isArray(a)) return Equal.equals(a, b)",
        why: "A list is compared as it is now."
      }
    ]
  },
  {
    area: "testing",
    file: "examples/sqlite/src/Sqlite.ts",
    tests: ["examples/sqlite/sqlite.test.ts"],
    faults: [
      {
        id: "sqlite-queue",
        find: "(running?.open ? work : queue.withPermits(1)(work))",
        put: "(running?.open ? work : work)",
        why: "A statement outside of a transaction is not part of it."
      },
      {
        id: "sqlite-rollback",
        find: 'Exit.isSuccess(exit) ? "commit" : "rollback"',
        put: 'Exit.isSuccess(exit) ? "commit" : "commit"',
        why: "A transaction that fails leaves nothing."
      }
    ]
  },
  {
    area: "testing",
    file: "packages/core/testing/simulation/SimulatedTime.ts",
    tests: ["packages/core/test/simulation/simulation.test.ts"],
    faults: [
      {
        id: "simulation-step",
        find: "from + Math.ceil((instant - from) / step) * step",
        put: "instant + 0 * (step + from)",
        why: "What is due within a step runs at its end."
      },
      {
        id: "simulation-rest",
        find: "isLoop && quiet > 1",
        put: "isLoop && quiet > 100",
        why: "Loops rest while nothing happens."
      },
      {
        id: "simulation-rest-end",
        find: "Math.max(happened, from)",
        put: "Math.max(0 * happened, from)",
        why: "Loops look in every step again once something has happened."
      }
    ]
  },
  {
    area: "testing",
    file: "packages/core/testing/simulation/faults.ts",
    tests: ["packages/core/test/simulation/simulation.test.ts"],
    faults: [
      {
        id: "simulation-storage",
        find: "chance.hits(faults.storage)",
        put: "chance.hits(0 * faults.storage)",
        why: "Storage fails as often as the option has it."
      },
      {
        id: "simulation-compute",
        find: "chance.hits(faults.compute)",
        put: "chance.hits(0 * faults.compute)",
        why: "Machines fail as often as the option has it."
      }
    ]
  },
  {
    area: "testing",
    file: "packages/core/testing/simulation/Subscriber.ts",
    tests: ["packages/core/test/simulation/simulation.test.ts"],
    faults: [
      {
        id: "simulation-paused",
        find: "if (!this.#paused) this.#read()",
        put: "this.#read()",
        why: "A client that is paused does not read."
      }
    ]
  },
  {
    area: "testing",
    file: "packages/narthex/src/host/simulatedFollow.ts",
    tests: ["packages/narthex/test/simulate.test.ts"],
    faults: [
      {
        id: "simulation-follow-policy",
        find: "Effect.andThen(admit(policy, caller, ids), find(policy, caller, ids))",
        put: "Effect.when(Effect.andThen(admit(policy, caller, ids), find(policy, caller, ids)), Effect.succeed(false))",
        why: "A stream that the API would refuse is refused."
      },
      {
        id: "simulation-follow-buffer",
        find: "new SimulatedConnection(buffer, soon)",
        put: "new SimulatedConnection(buffer + defaultBuffer * 64, soon)",
        why: "A subscriber that does not read gets an overflow once its buffer is full."
      }
    ]
  }
]
