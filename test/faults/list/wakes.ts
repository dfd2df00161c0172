/** Wakes in the proxy. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const wakes: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Computes.ts",
    tests: ["packages/proxy/test/end-to-end/headline.test.ts"],
    faults: [
      {
        id: "woken-before",
        find: "last !== undefined && last.at >= asked_at ?",
        put: "last !== undefined ?",
        why: "A wake from before the endpoint was resolved says nothing about where the compute is now."
      }
    ]
  }
]
