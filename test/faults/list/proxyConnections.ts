/** A connection through the proxy. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyConnections: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/wire/MessageWalker.ts",
    tests: [
      "packages/proxy/test/wire/edges.test.ts",
      "packages/proxy/test/wire/MessageWalker.test.ts",
      "packages/proxy/test/connection/Relay.test.ts"
    ],
    faults: [
      {
        id: "walker-size",
        find: "bytes.readInt32BE(at + 1) - 4",
        put: "bytes.readInt32BE(at + 1)",
        why: "The length of a message includes its own four bytes."
      },
      {
        id: "walker-negative",
        find: "if (size < 0) {",
        put: "if (size < -4) {",
        why: "A length that makes no sense ends the walk."
      },
      {
        id: "walker-largest",
        find: "size <= largestBody && this",
        put: "this",
        why: "A body that is too large is not collected."
      },
      {
        id: "walker-boundary",
        find: "this.#skip === 0 && this.#headerBytes === 0 &&",
        put: "this.#skip === 0 &&",
        why: "Inside a header is no boundary."
      },
      {
        id: "walker-boundary-skip",
        find: "this.#skip === 0 && this.#headerBytes === 0 &&",
        put: "this.#headerBytes === 0 &&",
        why: "Inside a body is no boundary."
      },
      {
        id: "walker-broken",
        find: "&& !this.#broken\n  }",
        put: "\n  }",
        why: "After a length that made no sense there is no boundary."
      },
      {
        id: "walker-stop",
        find: "if (stop && this.atBoundary) return at",
        put: "if (stop) return at",
        why: "A walk to the boundary goes on to the end of the message."
      },
      {
        id: "walker-empty-body",
        find: "if (size === 0) this.#finish()",
        put: "",
        why: "A wanted message without a body is reported."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Connection.ts",
    tests: ["packages/proxy/test/end-to-end/handshake.test.ts"],
    faults: [
      {
        id: "connection-trusted",
        find: "if (!shared.trusted(direct)) return counted(direct)",
        put: "return counted(direct)",
        why: "The PROXY header of a trusted load balancer names the client."
      },
      {
        id: "connection-trusted-all",
        find: "if (!shared.trusted(direct)) return counted(direct)",
        put: "",
        why: "A header from an address that is not trusted is no evidence."
      },
      {
        id: "connection-header-refused",
        find: 'if (header._tag === "Refused") return client.end(new Hangup({ event: "proxy_header_refused" }))\n    return counted(header._tag === "Local" ? direct : header.source)',
        put: 'return counted(header._tag === "Proxied" ? header.source : direct)',
        why: "A trusted peer without a header is refused."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Relay.ts",
    tests: ["packages/proxy/test/connection/Relay.test.ts"],
    faults: [
      {
        id: "relay-unsynced",
        find: "if (unsynced.has(type)) this.#unsynced = true",
        put: "if (unsynced.has(type)) this.#unsynced = false",
        why: "Work without a Sync keeps a session busy."
      },
      {
        id: "relay-synced",
        find: "      this.#unsynced = false\n",
        put: "",
        why: "A session whose Sync was answered is idle."
      },
      {
        id: "relay-keeps-bytes",
        find: "    const kept = client.writableLength > 0\n    if",
        put: "    const kept = false\n    if",
        why: "Bytes that the client has not taken yet are not overwritten."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/control-plane/ActivityReports.ts",
    tests: ["packages/proxy/test/control-plane/ActivityReports.test.ts"],
    faults: [
      {
        id: "reports-parts",
        find: "Math.ceil(all.length / maxActivities)",
        put: "Math.min(1, all.length)",
        why: "All computes of a large proxy are reported."
      },
      {
        id: "reports-quiet",
        find: "in_use: busy > 0 || idle_ms < quiet",
        put: "in_use: busy > 0",
        why: "Short queries in a row are one use."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/handshake.ts",
    tests: ["packages/proxy/test/end-to-end/handshake.test.ts"],
    faults: [
      {
        id: "handshake-ahead",
        find: "|| client.reader.ahead) return",
        put: "|| false) return",
        why: "Bytes behind an SSL request end the connection."
      },
      {
        id: "handshake-asked",
        find: "!plain || asked.includes(packet._tag) ||",
        put: "!plain ||",
        why: "TLS is asked for once."
      },
      {
        id: "handshake-required",
        find: "plain && tls?.required ? client.end(tlsRequired()) : then(packet)",
        put: "then(packet)",
        why: "Where TLS is required a plain connection is refused."
      },
      {
        id: "handshake-no",
        find: 'client.socket.write("N")',
        put: 'client.socket.write("S")',
        why: "A request that is not granted is answered so."
      },
      {
        id: "handshake-alpn",
        find: 'client.socket.alpnProtocol !== "postgresql")',
        put: 'client.socket.alpnProtocol === "postgresql")',
        why: "Direct TLS needs the protocol's name."
      },
      {
        id: "handshake-major",
        find: 'if (packet._tag === "UnsupportedProtocol") return client.end(unsupportedProtocol(packet.major, packet.minor))',
        put: 'if (packet._tag === "UnsupportedProtocol") return client.end(garbage())',
        why: "An unsupported protocol version gets an error that names the supported one."
      },
      {
        id: "handshake-answerable",
        find: "        client.answerable = true\n",
        put: "",
        why: "After the startup packet a refusal is a sentence."
      }
    ]
  }
]
