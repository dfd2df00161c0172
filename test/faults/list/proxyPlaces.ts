/** Clients that have not authenticated: their places, their rate, and what they may wake. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyPlaces: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/connection/AuthenticationGate.ts",
    tests: ["packages/proxy/test/connection/AuthenticationGate.test.ts"],
    faults: [
      {
        id: "places-rate",
        find: "if (known) return 0\n",
        put: "return 0\n",
        why: "Sessions of strangers begin at a rate."
      },
      {
        id: "places-rate-network",
        find: "this.#begunFrom.take(applicant.network, this.#now())",
        put: "",
        why: "A network has a rate at all endpoints together."
      },
      {
        id: "places-became-known",
        find: "if (!lane.known) this.#becameKnown(lane, applicant)",
        put: "",
        why: "A pool whose user is known does not wait for the rate of strangers."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/KnownUsers.ts",
    tests: ["packages/proxy/test/connection/KnownUsers.test.ts"],
    faults: [
      {
        id: "places-known",
        find: "now - at < remembered",
        put: "now - at < 0",
        why: "A known user has places apart."
      },
      {
        id: "places-known-most",
        find: "users.size > largest.users.size",
        put: "false",
        why: "The logins of one tenant make no user of another unknown."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/Lane.ts",
    tests: ["packages/proxy/test/connection/AuthenticationGate.test.ts"],
    faults: [
      {
        id: "places-address",
        find: "lane.holders.size < lane.places && held(lane, address) < lane.perAddress",
        put: "lane.holders.size < lane.places",
        why: "An address has few of the places."
      },
      {
        id: "places-turns",
        find: "for (const key of new Set([network, address])) {",
        put: "for (const key of new Set<string>()) {",
        why: "Networks that wait take turns."
      },
      {
        id: "places-evicts",
        find: "!hasRoom(lane, address) && (",
        put: "(",
        why: "A client that waits for its time ends no other one's."
      },
      {
        id: "places-queue",
        find: "most(ofNetwork, ({ applicant }) => applicant.address)[0]?.refuse()",
        put: "lane.waiting[0]?.refuse()",
        why: "A full queue drops clients of a flood, not the oldest of all."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/connection/StrangerWakes.ts",
    tests: ["packages/proxy/test/connection/StrangerWakes.test.ts"],
    faults: [
      {
        id: "stranger-wakes",
        find: "if (now - last.at < pause) return false",
        put: "",
        why: "Clients that never authenticate wake an endpoint less and less often."
      }
    ]
  }
]
