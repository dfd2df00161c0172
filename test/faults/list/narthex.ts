/** The host's own calls of the library. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const narthex: ReadonlyArray<FaultsOfFile> = [
  {
    area: "host",
    file: "packages/narthex/src/host/transaction.ts",
    tests: ["packages/narthex/test/transaction.test.ts"],
    faults: [
      {
        id: "transaction-elsewhere",
        find: "work(callsOf(makeRun(context, closed)))",
        put: "work(callsOf(run))",
        why: "Calls of the callback run inside the host's transaction."
      }
    ]
  }
]
