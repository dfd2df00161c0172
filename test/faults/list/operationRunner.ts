/** The runner of operations. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "operations"
const tests = [
  "packages/core/test/runner/OperationRunner.lease.test.ts",
  "packages/core/test/runner/OperationRunner.test.ts",
  "packages/core/test/runner/OperationRunner.failures.test.ts",
  "packages/core/test/runner/OperationRunner.bounds.test.ts",
  "packages/core/test/runner/OperationRunner.promises.test.ts",
  "packages/core/test/runner/OperationRunner.order.test.ts",
  "packages/core/test/runner/OperationRunner.crashes.test.ts",
  "packages/core/test/runner/OperationRunner.loop.test.ts",
  "packages/core/test/operations/Operation.test.ts"
]

export const operationRunner: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/runner/makePerformer.ts",
    tests,
    faults: []
  },
  {
    area,
    file: "packages/core/src/runner/OperationRunner.ts",
    tests,
    faults: []
  }
]
