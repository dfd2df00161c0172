// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** Authentication at the proxy: the SCRAM exchange with clients and with computes. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const scram = "packages/proxy/test/scram/scram.test.ts"
const frontDoor = "packages/proxy/test/end-to-end/frontDoor.test.ts"
const connection = "packages/proxy/test/connection/Connection.test.ts"

export const proxyAuthentication: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/scram/ScramServer.ts",
    tests: [scram],
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
    tests: [scram],
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
    file: "packages/proxy/src/connection/logIn.ts",
    tests: [connection, frontDoor],
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
    file: "packages/proxy/src/connection/proveRole.ts",
    tests: [frontDoor, connection],
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
    file: "packages/proxy/src/connection/locate.ts",
    tests: [frontDoor],
    faults: [
      {
        id: "locate-fresh",
        find: "asked_at >= asker.since && now() - asked_at < fresh",
        put: "now() - asked_at < fresh",
        why: "The answer to another connection is not taken for that of now."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/ConnectionLimiter.ts",
    tests: ["packages/proxy/test/connection/ConnectionLimiter.test.ts"],
    faults: [
      {
        id: "half-open-room",
        find: "if (this.#halfOpen >= this.#mostHalfOpen) this.#dropOne()",
        put: "",
        why: "Half-open connections have half of all at most."
      },
      {
        id: "half-open-largest",
        find: "ofNetwork.size > most.size",
        put: "ofNetwork.size < most.size",
        why: "The network with the most makes room."
      },
      {
        id: "failures-network",
        find: "`${endpoint} ${networkOf(peer.text)}`",
        put: "endpoint",
        why: "A network that fails shuts out no other."
      }
    ]
  }
]
