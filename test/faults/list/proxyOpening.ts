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
        find: "const size = this.expectsMore() ? grown : this.#usual",
        put: "const size = grown",
        why: "An idle session has a small buffer, also after a long result."
      },
      {
        id: "compute-socket-least",
        find: "    if (this.#full) this.#usual = small\n",
        put: "",
        why: "A session whose results fill a buffer of 1 kB does not read them in pieces."
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
    file: "packages/proxy/src/connection/OpeningConnection.ts",
    tests: [
      "packages/proxy/test/connection/OpeningConnection.test.ts",
      "packages/proxy/test/connection/Connection.test.ts",
      "packages/proxy/test/end-to-end/opening.test.ts",
      "packages/proxy/test/end-to-end/handshake.test.ts"
    ],
    faults: [
      {
        id: "opening-stop",
        find: "    this.#stop?.()\n",
        put: "",
        why: "A connection that ends calls off what it waits for."
      },
      {
        id: "opening-claims",
        find: "    this.claims.close()\n",
        put: "",
        why: "A connection that ends before its session gives back what it has of the limits."
      },
      {
        id: "opening-defect",
        find: "      this.defect(defect)\n",
        put: "      throw defect\n",
        why: "A defect ends one connection, and not the proxy."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Session.ts",
    tests: ["packages/proxy/test/connection/Connection.test.ts"],
    faults: [
      {
        id: "session-claims",
        find: "    this.#claims.close()\n",
        put: "",
        why: "A session that ends gives back what it has of the limits."
      },
      {
        id: "session-releases",
        find: "last !== undefined; last = this.#releases.pop()) last()",
        put: "last !== undefined; last = undefined) last()",
        why: "A session that ends is watched no longer, and its key cancels nothing.",
        tests: ["packages/proxy/test/end-to-end/cancel.test.ts"]
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
