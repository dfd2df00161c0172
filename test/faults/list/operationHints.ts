/** What a process hints to itself about operations, and what an event makes a runner look for. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "operations"

const wakes = ["packages/core/test/proxying/ProxyRequests.test.ts"]

export const operationHints: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/proxying/ProxyRequests.ts",
    tests: wakes,
    faults: [
      {
        id: "wake-unhinted",
        find: "            yield* hint(operation)\n",
        put: "",
        why: "The runner of the process claims the start of a wake before the log announces it."
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
