/** Clients that have not authenticated: their places, their rate, and what they may wake. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyPlaces: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/connection/AuthenticationGate.ts",
    tests: [
      "packages/proxy/test/connection/AuthenticationGate.rates.test.ts",
      "packages/proxy/test/connection/AuthenticationGate.test.ts"
    ],
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
        find: "        this.#becameKnown(applicant)\n",
        put: "",
        why: "A pool whose user is known does not wait for the rate of strangers."
      },
      {
        id: "places-give-back",
        find: "if (!lane.known) this.#giveBack(applicant)",
        put: "",
        why: "Who authenticates does not count against the rate."
      },
      {
        id: "places-evicts-later",
        find: "    this.#schedule(lane)\n    this.#evictOne(lane)\n",
        put: "    this.#schedule(lane)\n",
        why: "A session that takes too long ends also for a client that needs its place later."
      },
      {
        id: "places-evicts-in-time",
        find: " && mayBegin(waiter)",
        put: "",
        why: "A client whose time has not come ends no session."
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
    tests: [
      "packages/proxy/test/connection/AuthenticationGate.rates.test.ts",
      "packages/proxy/test/connection/AuthenticationGate.test.ts"
    ],
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
