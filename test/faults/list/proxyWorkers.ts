/** A proxy with workers: what is one number of all of them, and what a worker's end leaves. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyWorkers: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/workers/Ledger.ts",
    tests: ["packages/proxy/test/workers/Ledger.test.ts"],
    faults: [
      {
        id: "ledger-end",
        find: "for (const connection of [...this.#kept.keys()]) this.isClosed(connection)",
        put: "",
        why: "A worker that ends gives back what its connections hold."
      },
      {
        id: "ledger-closed",
        find: "    kept.claims.close()\n",
        put: "",
        why: "A connection that ends gives back what it holds."
      },
      {
        id: "ledger-evicted",
        find: 'kept.claims.relayed(() => this.#send({ _tag: "Evicted", connection }))',
        put: "kept.claims.relayed(() => {})",
        why: "A worker learns that a client has not authenticated in time."
      },
      {
        id: "ledger-authenticated",
        find: "this.#kept.get(connection)?.claims.authenticated()",
        put: "this.#kept.get(connection)",
        why: "A client that has authenticated is not evicted."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/workers/AskedClaims.ts",
    tests: ["packages/proxy/test/workers/AskedClaims.test.ts"],
    faults: [
      {
        id: "asked-handshake",
        find: "done(counted === true)",
        put: "done(counted !== false)",
        why: "Without an answer no handshake is counted."
      },
      {
        id: "asked-enter",
        find: '(entered = "connections")',
        put: "(entered = { known: false, waited: false })",
        why: "Without an answer a connection gets no place."
      },
      {
        id: "asked-wake",
        find: "done(may === true)",
        put: "done(may !== false)",
        why: "Without an answer nothing is woken."
      },
      {
        id: "asked-counted",
        find: "if (this.#counted) {",
        put: "if (false) {",
        why: "A handshake counts once."
      },
      {
        id: "asked-once",
        find: "if (!this.#open) return",
        put: "",
        why: "A connection ends once."
      },
      {
        id: "asked-evicted",
        find: "this.#evict = undefined",
        put: "",
        why: "A session that has authenticated is not cut."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/workers/Worker.ts",
    tests: ["packages/proxy/test/workers/Worker.test.ts"],
    faults: [
      {
        id: "worker-copy",
        find: "arrived.socket.destroy()",
        put: "",
        why: "A socket that the worker has is closed here, or it never ends."
      },
      {
        id: "worker-returned",
        find: "if (this.#arriving !== undefined) this.#events.returned(this.#arriving)",
        put: "",
        why: "A connection that did not reach its worker is not lost."
      },
      {
        id: "worker-free",
        find: "return this.#ready && this.#arriving === undefined",
        put: "return this.#ready",
        why: "One connection at a time is on its way to a worker."
      },
      {
        id: "worker-late",
        find: "this.#inTime = this.#events.limit(() => this.kill())",
        put: "",
        why: "A worker that does not react is killed."
      },
      {
        id: "worker-end",
        find: "    this.#ledger.end()\n",
        put: "",
        why: "What a killed worker held is given back."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/workers/sumMetrics.ts",
    tests: ["packages/proxy/test/workers/sumMetrics.test.ts"],
    faults: [
      {
        id: "metrics-sum",
        find: "(sum.samples.get(key) ?? 0) + value",
        put: "value",
        why: "The metrics of several processes are sums."
      },
      {
        id: "metrics-cumulative",
        find: "(?:counter|histogram)$",
        put: "(?:counter|histogram|gauge)$",
        why: "The gauges of an ended process are gone with it."
      }
    ]
  }
]
