/** Networks, addresses and routes. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyNetworks: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/networks/NetworkTrie.ts",
    tests: ["packages/proxy/test/networks/NetworkTrie.test.ts", "packages/proxy/test/allowlist/edges.test.ts"],
    faults: [
      {
        id: "trie-prefix",
        find: "Math.clz32(different) < length) break",
        put: "Math.clz32(different) <= length) break",
        why: "A network is as wide as its prefix says."
      },
      {
        id: "trie-latest",
        find: "Math.max(this.#until[node] ?? 0, until)",
        put: "until",
        why: "A network that is listed twice counts until its later end."
      },
      {
        id: "trie-first-rule",
        find: "if (here > until) until = here",
        put: "if (until === 0) until = here",
        why: "The last rule that covers an address counts, not the widest."
      },
      {
        id: "trie-root",
        find: "const until = Math.max(before, this.#until[node] ?? 0)",
        put: "const until = Math.max(before, node === 0 ? 0 : (this.#until[node] ?? 0))",
        why: "A rule for every address covers every address."
      },
      {
        id: "trie-index-stale",
        find: "    this.#bits = 0\n    let node",
        put: "    let node",
        why: "A network that is added after a match is matched."
      },
      {
        id: "trie-index-range",
        find: ">>> (32 - this.#bits)) & -values",
        put: ">>> (32 - this.#bits))",
        why: "Bits of a key after its length have no meaning."
      },
      {
        id: "trie-bits",
        find: "if (length > 32 * at + 32 && this.#common(node, bytes) < length) break\n",
        put: "",
        why: "All bits of an address count, also those of words that a step passes over."
      },
      {
        id: "trie-bit-order",
        find: "(7 - (bit & 7))",
        put: "(bit & 7)",
        why: "The first bit of a byte is its highest."
      },
      {
        id: "trie-stop",
        find: "if (node === 0) break",
        put: "if (node === 0) return 0",
        why: "A search ends where the trie has no child."
      },
      {
        id: "trie-child",
        find: "left + this.#bitOf(child, common)] = child",
        put: "left + bit] = child",
        why: "Each network is found under its own bits."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/networks/Address.ts",
    tests: [
      "packages/proxy/test/networks/NetworkTrie.test.ts",
      "packages/proxy/test/allowlist/Allowlist.test.ts",
      "packages/proxy/test/connection/ConnectionLimiter.test.ts",
      "packages/proxy/test/wire/ProxyHeader.test.ts"
    ],
    faults: [
      {
        id: "address-zone",
        find: 'const [host = ""] = text.split("%")',
        put: 'const [host = ""] = [text]',
        why: "A peer's zone is not part of its address."
      },
      {
        id: "address-network",
        find: 'if (host.includes("/")) return undefined',
        put: "",
        why: "A network is not an address of a peer."
      },
      {
        id: "address-groups",
        find: "8 - before.length - after.length",
        put: "7 - before.length - after.length",
        why: "The double colon of an address stands for as many zeros as are missing."
      },
      {
        id: "address-group-bytes",
        find: "[group >> 8, group & 0xff]",
        put: "[group & 0xff, group >> 8]",
        why: "A group's high byte comes first."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/route.ts",
    tests: ["packages/proxy/test/allowlist/edges.test.ts", "packages/proxy/test/connection/route.test.ts"],
    faults: [
      {
        id: "route-contradiction",
        find: "named.some((id) => id !== first)",
        put: "named.every((id) => id !== first)",
        why: "A client that names two endpoints reaches neither."
      },
      {
        id: "route-malformed",
        find: 'if (!endpointId.test(first)) return Result.fail(new NoRoute({ reason: "malformed", named }))',
        put: "",
        why: "A malformed id is no endpoint."
      },
      {
        id: "route-none",
        find: 'reason: "none", named',
        put: 'reason: "malformed", named',
        why: "A client that names no endpoint gets an error that says so."
      },
      {
        id: "route-suffix-user",
        find: 'name === "user" || (name',
        put: "(name",
        why: "The user name reaches Postgres without the endpoint's id."
      },
      {
        id: "route-suffix-database",
        find: '(name === "database" && value === user)',
        put: 'name === "database"',
        why: "A database of another name keeps its name."
      },
      {
        id: "route-suffix-database-default",
        find: '|| (name === "database" && value === user)',
        put: "",
        why: "A database that repeats the user name loses the suffix too."
      },
      {
        id: "route-options-rest",
        find: 'options.rest === "" ? [] : [[name, options.rest]]',
        put: "[]",
        why: "Other options reach Postgres."
      },
      {
        id: "route-options-untouched",
        find: 'name === "options" && options.named.length > 0',
        put: 'name === "options"',
        why: "Options without an endpoint pass as they are."
      },
      {
        id: "route-options-empty",
        find: 'options.rest === "" ? [] : [[name, options.rest]]',
        put: "[[name, options.rest]]",
        why: "Options of which nothing is left are not sent."
      },
      {
        id: "route-options-c",
        find: 'if (rest.at(-1) === "-c") rest.pop()',
        put: "",
        why: "The `-c` before `endpoint=` is removed with it."
      },
      {
        id: "route-options-words",
        find: "/(?:\\\\[\\s\\S]|[^\\s\\\\])+/g",
        put: "/\\S+/g",
        why: "An escaped space does not split an option."
      },
      {
        id: "route-label-domain",
        find: "if (!name.endsWith(tail)) return undefined",
        put: "",
        why: "A host name of another domain names no endpoint."
      },
      {
        id: "route-label-dot",
        find: '.replace(/\\.$/, "")',
        put: "",
        why: "A host name may end with a dot."
      },
      {
        id: "route-label-case",
        find: "servername.toLowerCase()",
        put: "servername",
        why: "Host names are read in any case."
      },
      {
        id: "route-label-more",
        find: "region !== undefined && more.length === 0 &&",
        put: "region !== undefined &&",
        why: "A host name with more labels names no endpoint."
      },
      {
        id: "route-label-region",
        find: "region !== undefined && more.length",
        put: "more.length",
        why: "A host name without a region names no endpoint."
      },
      {
        id: "route-label-kind",
        find: 'label?.startsWith("ep-") ? label : undefined',
        put: "label",
        why: "Another first label names no endpoint."
      }
    ]
  }
]
