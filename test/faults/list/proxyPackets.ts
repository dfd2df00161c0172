/** What a client sends first, and how often. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyPackets: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/connection/ConnectionLimiter.ts",
    tests: ["packages/proxy/test/connection/ConnectionLimiter.test.ts"],
    faults: [
      {
        id: "limits-slots",
        find: "if (taken >= this.#maximum) return false",
        put: "if (taken > this.#maximum) return false",
        why: "There are as many slots as the setting says."
      },
      {
        id: "limits-release",
        find: "(this.#taken.get(key) ?? 1) - 1",
        put: "(this.#taken.get(key) ?? 1)",
        why: "A released slot is free again."
      },
      {
        id: "limits-endpoint-key",
        find: "this.#endpoint.take(id)",
        put: 'this.#endpoint.take("")',
        why: "Each endpoint has its own connections."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/wire/ProxyHeader.ts",
    tests: ["packages/proxy/test/wire/edges.test.ts", "packages/proxy/test/wire/ProxyHeader.test.ts"],
    faults: [
      {
        id: "header-signature",
        find: "!signature.subarray(0, seen.length).equals(seen)",
        put: "false",
        why: "A connection without the header is refused."
      },
      {
        id: "header-version",
        find: "head[12] !== 0x20 && head[12] !== 0x21",
        put: "head[12] !== 0x20 && head[12] !== 0x21 && head[12] !== 0x11",
        why: "Another version of the header is refused."
      },
      {
        id: "header-largest",
        find: "if (length > largest) return refused",
        put: "",
        why: "A header that is too long is refused before it is read."
      },
      {
        id: "header-local",
        find: 'if (header[12] === 0x20) return { _tag: "Local" }',
        put: "",
        why: "A health check of the load balancer has the address of the load balancer."
      },
      {
        id: "header-missing",
        find: "return source === undefined ? refused",
        put: 'return source === undefined ? { _tag: "Local" }',
        why: "A header that names no address is refused."
      },
      {
        id: "header-source",
        find: "header.subarray(16, 20)",
        put: "header.subarray(20, 24)",
        why: "The client is the source, not the destination."
      },
      {
        id: "header-family",
        find: "header[13] === 0x11 && header.length >= 28",
        put: "header.length >= 28",
        why: "Only TCP over IPv4 is read as IPv4."
      },
      {
        id: "header-v6-length",
        find: "header[13] === 0x21 && header.length >= 52",
        put: "header[13] === 0x21",
        why: "A header too short for its addresses is refused."
      },
      {
        id: "header-payload",
        find: "queue.take(16 + length)",
        put: "queue.take(16)",
        why: "The extensions of the header are taken from the queue too."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/wire/startup.ts",
    tests: ["packages/proxy/test/wire/edges.test.ts", "packages/proxy/test/wire/startup.test.ts"],
    faults: [
      {
        id: "startup-largest",
        find: "size < 8 || size > largest",
        put: "size < 8",
        why: "A packet that is too long is garbage."
      },
      {
        id: "startup-smallest",
        find: "size < 8 || size > largest",
        put: "size > largest",
        why: "A packet that is too short is garbage."
      },
      {
        id: "startup-largest-instant",
        find: "size > largest",
        put: "size >= largest",
        why: "A packet may be as long as the limit."
      },
      {
        id: "startup-major",
        find: "if (major !== 3) return",
        put: "if (major < 3) return",
        why: "Another major version is not spoken."
      },
      {
        id: "startup-cancel-short",
        find: "packet.length >= 16 && packet.length <= 268",
        put: "packet.length <= 268",
        why: "A cancel request without a key is garbage."
      },
      {
        id: "startup-cancel-long",
        find: "packet.length >= 16 && packet.length <= 268",
        put: "packet.length >= 16",
        why: "A cancel request with too long a key is garbage."
      },
      {
        id: "startup-cancel-key",
        find: "key: packet.subarray(8), packet",
        put: "key: packet.subarray(8, 12), packet",
        why: "The whole key decides which query is cancelled."
      },
      {
        id: "startup-ssl",
        find: "code === 5679 && packet.length === 8",
        put: "code === 5679",
        why: "An SSL request has no body."
      },
      {
        id: "startup-end",
        find: 'texts.length < 2 || texts.at(-1) !== "" || texts.at(-2) !== "" ||',
        put: "texts.length < 2 ||",
        why: "The list of parameters ends where the packet does."
      },
      {
        id: "startup-pairs",
        find: "|| texts.length % 2 !== 0)",
        put: ")",
        why: "Each parameter has a value."
      },
      {
        id: "startup-name",
        find: 'if (name === "") return malformed("a parameter has no name")',
        put: "",
        why: "Each parameter has a name."
      },
      {
        id: "startup-twice",
        find: "once.includes(name) && seen.has(name)",
        put: "once.includes(name) && false",
        why: "The user is given once."
      },
      {
        id: "startup-twice-other",
        find: "once.includes(name) && seen.has(name)",
        put: "seen.has(name)",
        why: "Other parameters may be given twice."
      },
      {
        id: "startup-last",
        find: "findLast(([key]) => key === name)",
        put: "find(([key]) => key === name)",
        why: "Of a parameter that is given twice the last value counts."
      },
      {
        id: "startup-encoding",
        find: 'packet.write(body, 8, "latin1")',
        put: 'packet.write(body, 8, "utf8")',
        why: "Parameters pass byte for byte."
      },
      {
        id: "startup-version",
        find: "packet.writeUInt32BE(startup.version, 4)",
        put: "packet.writeUInt32BE(196_608, 4)",
        why: "Minor versions pass untouched."
      }
    ]
  }
]
