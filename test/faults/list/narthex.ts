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
        find: "during(makeRun(context, closed))",
        put: "during(run)",
        why: "Calls of the callback run inside the host's transaction."
      },
      {
        id: "transaction-floating",
        find: "onSuccess: (value) => Effect.as(refuseLate, value)",
        put: "onSuccess: (value) => Effect.succeed(value)",
        why: "A call that the callback did not await is not told to be done."
      }
    ]
  }
]
