/** What a process hints to itself about operations, and what an event makes a runner look for. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "operations"

const wakes = ["packages/core/test/proxying/ProxyRequests.test.ts"]
const claims = ["packages/core/test/runner/OperationRunner.claims.test.ts"]

export const operationHints: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/operations/Operations.ts",
    tests: ["packages/core/test/operations/Operations.claims.test.ts"],
    faults: [
      {
        id: "wake-unhinted",
        find: "Effect.void : hint(first)",
        put: "Effect.void : Effect.void",
        why: "The runner of the process claims the start of a wake before the log announces it.",
        tests: wakes
      },
      {
        id: "claimed-run-again",
        find: "            held.claimed = undefined // the transaction may run again\n",
        put: "",
        why: "What a run of a transaction has claimed that was rolled back is not performed."
      },
      {
        id: "claimed-uncommitted",
        find: "Exit.isSuccess(exit))",
        put: "true)",
        why: "A claim whose commit has an unknown outcome is looked up before it is performed."
      },
      {
        id: "claimed-other-class",
        find: "offer.of === of ?",
        put: "offer.of !== undefined ?",
        why: "A place of another class is not taken."
      },
      {
        id: "claimed-begun",
        find: 'first?.status === "scheduling"',
        put: "first !== undefined",
        why: "A wake that joins a start which has begun claims nothing."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/OperationRunner.ts",
    tests: claims,
    faults: [
      {
        id: "claimed-place-kept",
        find: "if (claimed === undefined) return Effect.asVoid(places.release(1))",
        put: "if (claimed === undefined) return Effect.void",
        why: "A wake that claims nothing keeps no place."
      },
      {
        id: "claimed-unperformed",
        find: 'if (scope.state._tag === "Closed") return Effect.ignore(performer.giveBack(operation))',
        put: "",
        why: "A start that a stopped runner has claimed is given back."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/makePerformer.ts",
    tests: claims,
    faults: [
      {
        id: "claimed-not-begun",
        find: "const begins = isNew && ",
        put: "const begins = !isNew && ",
        why: "A start that is claimed as it is scheduled begins in the same transaction."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/makePerformer.ts",
    tests: wakes,
    faults: [
      {
        id: "runner-end-unhinted",
        find: "onSome: operations.hint",
        put: "onSome: () => Effect.void",
        why: "A wake answers when its own process has recorded the start, and does not wait for the event."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/OperationRunner.ts",
    tests: ["packages/core/test/runner/OperationRunner.loop.test.ts"],
    faults: [
      {
        id: "runner-hinted",
        find: '(status === "scheduling" ? nudgeClass(classOf(action)) : Effect.void)',
        put: "Effect.void",
        why: "A runner claims what its process has scheduled before the log announces it."
      },
      {
        id: "runner-nudged-end",
        find: 'if (status === "running") return Effect.void',
        put: 'if (status !== "cancelling") return Effect.void',
        why: "The end of an operation lets the next one of its branch begin, of any class."
      },
      {
        id: "runner-nudged-class",
        find: "loops.filter((loop) => loop.of === of)",
        put: "loops.filter((loop) => loop.of !== of)",
        why: "An operation is claimed by the loop of its class."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/operations/OperationWaits.ts",
    tests: ["packages/core/test/operations/OperationWaits.test.ts"],
    faults: [
      {
        id: "waits-hinted",
        find: "latest !== undefined && isOver(latest) ? latest : yield* store.find(operation)",
        put: "yield* store.find(operation)",
        why: "The end of an operation that the process has performed itself is not read again."
      }
    ]
  }
]
