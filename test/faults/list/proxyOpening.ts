/** How a connection is opened, what it holds, and the buffer of its session. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyOpening: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/connection/ComputeSocket.ts",
    tests: ["packages/proxy/test/connection/ComputeSocket.test.ts"],
    faults: [
      {
        id: "compute-socket-kept",
        find: "if (this.#kept || size",
        put: "if (size",
        why: "A buffer whose bytes wait for a slow client is not read into."
      },
      {
        id: "compute-socket-small",
        find: "const size = this.expectsMore() ? grown : small",
        put: "const size = grown",
        why: "An idle session has a small buffer, also after a long result."
      },
      {
        id: "compute-socket-large",
        find: "const grown = this.#full ? large : this.#buffer.length",
        put: "const grown = small",
        why: "A long result is not read in pieces of 4 kB."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Connections.ts",
    tests: ["packages/proxy/test/end-to-end/opening.test.ts"],
    faults: [
      {
        id: "opening-drain",
        find: "    for (const opening of [...this.openings]) opening.end(refusal)\n",
        put: "",
        why: "Clients that wait for a compute do not hold up a drain."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Held.ts",
    tests: ["packages/proxy/test/connection/Held.test.ts", "packages/proxy/test/end-to-end/opening.test.ts"],
    faults: [
      {
        id: "held-once",
        find: "      if (!held) return\n",
        put: "",
        why: "A slot is returned once, also if the handshake has returned it before the end."
      },
      {
        id: "held-late",
        find: "if (this.#over) once()\n    else this.#releases.push(once)",
        put: "this.#releases.push(once)",
        why: "A place that is given to a connection after its end is free again."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Deadlines.ts",
    tests: ["packages/proxy/test/connection/Deadlines.test.ts"],
    faults: [
      {
        id: "deadlines-called-off",
        find: "return () => void waits.delete(wait)",
        put: "return () => {}",
        why: "A connection whose handshake has ended is not closed by its time limit."
      },
      {
        id: "deadlines-wake",
        find: "if (asleep) Queue.offerUnsafe(begun, undefined)",
        put: "if (asleep && waits.size > 1) Queue.offerUnsafe(begun, undefined)",
        why: "A connection that comes to a quiet proxy has a time limit, too."
      }
    ]
  }
]
