// biome-ignore-all lint/suspicious/noTemplateCurlyInString: faults quote templates
/** Bytes of clients, SCRAM, and what the proxy passes on. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const packets: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/scram/ScramServer.ts",
    tests: ["packages/proxy/test/scram/scram.test.ts"],
    faults: [
      {
        id: "scram-proof",
        find: "if (!timingSafeEqual(sha256(clientKey), storedKey))",
        put: "if (false)",
        why: "A proof of another password is refused."
      },
      {
        id: "scram-nonce",
        find: 'if (attribute(nonce, "r") !== combined) return "malformed"',
        put: "",
        why: "The proof is for this exchange."
      },
      {
        id: "scram-binding",
        find: 'if (bindingSent !== expected.toString("base64")) return "binding_mismatch"',
        put: "",
        why: "The proof is for this channel."
      },
      {
        id: "scram-stripped",
        find: 'if (flag === "y" && binding !== undefined) return "binding_mismatch"',
        put: "",
        why: "A third party that removes the offer of channel binding is noticed."
      },
      {
        id: "scram-mechanism",
        find: 'if (bound !== (mechanism === plus)) return "malformed"',
        put: "",
        why: "The mechanism with channel binding needs it, and no other takes it."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/scram/Verifier.ts",
    tests: ["packages/proxy/test/scram/scram.test.ts"],
    faults: [
      {
        id: "decoy-name",
        find: ".update(`${label} ${name}`)",
        put: ".update(label)",
        why: "Each unknown name has a salt of its own."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/compute/logIn.ts",
    tests: ["packages/proxy/test/opening/Connection.test.ts", "packages/proxy/test/end-to-end/frontDoor.test.ts"],
    faults: [
      {
        id: "login-proven",
        find: "code === authentication.ok && this.#proven",
        put: "code === authentication.ok",
        why: "A server that asks for no proof has no session."
      },
      {
        id: "login-foreign",
        find: "if (!this.#client.accepts(text)) return foreignServer()",
        put: "",
        why: "A server that does not know the verifier is another one."
      },
      {
        id: "login-asked",
        find: "if (!this.#asked) return unproven()",
        put: "",
        why: "An operator's own server has to ask for a proof too."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/opening/proveRole.ts",
    tests: ["packages/proxy/test/end-to-end/frontDoor.test.ts", "packages/proxy/test/opening/Connection.test.ts"],
    faults: [
      {
        id: "prove-ended",
        find: "if (allowed.located.verifier === undefined) return client.end(wrongPassword(user))",
        put: "",
        why: "A role that has ended since its verifier was learned is refused."
      },
      {
        id: "prove-failures",
        find: 'if (outcome !== "left") limiter.failed(endpoint_id, peer)',
        put: "",
        why: "Failed proofs are counted.",
        tests: ["packages/proxy/test/end-to-end/strangers.test.ts"]
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/wire/MessageWalker.ts",
    tests: [
      "packages/proxy/test/wire/edges.test.ts",
      "packages/proxy/test/wire/MessageWalker.test.ts",
      "packages/proxy/test/relay/Relay.test.ts"
    ],
    faults: [
      {
        id: "walker-broken",
        find: "&& !this.#broken\n  }",
        put: "\n  }",
        why: "After a length that made no sense there is no boundary."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/wire/ProxyHeader.ts",
    tests: ["packages/proxy/test/wire/edges.test.ts", "packages/proxy/test/wire/ProxyHeader.test.ts"],
    faults: [
      {
        id: "header-local",
        find: 'if (header[12] === 0x20) return { _tag: "Local" }',
        put: "",
        why: "A health check of the load balancer has the address of the load balancer."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/wire/startup.ts",
    tests: ["packages/proxy/test/wire/edges.test.ts", "packages/proxy/test/wire/startup.test.ts"],
    faults: [
      {
        id: "startup-cancel-key",
        find: "key: packet.subarray(8), packet",
        put: "key: packet.subarray(8, 12), packet",
        why: "The whole key decides which query is cancelled."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/relay/Relay.ts",
    tests: ["packages/proxy/test/relay/Relay.test.ts"],
    faults: [
      {
        id: "relay-synced",
        find: "      this.#unsynced = false\n",
        put: "",
        why: "A session whose Sync was answered is idle."
      }
    ]
  }
]
