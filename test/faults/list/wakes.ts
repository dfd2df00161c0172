/** Wakes in the proxy. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const wakes: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Computes.ts",
    tests: ["packages/proxy/test/connection/Computes.test.ts"],
    faults: [
      {
        id: "woken-before",
        find: "last !== undefined && last.at >= asked_at ?",
        put: "last !== undefined ?",
        why: "A wake from before the endpoint was resolved says nothing about where the compute is now."
      },
      {
        id: "woken-long-ago",
        find: "if (now() - at > wakeReuse) woken.delete(id)",
        put: "if (now() - at > 60 * wakeReuse) woken.delete(id)",
        why: "The result of a wake is used for a second."
      }
    ]
  }
]
