/** The turns of requesters: at what they share, and in the event loop. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const turns: ReadonlyArray<FaultsOfFile> = [
  {
    area: "quotas",
    file: "packages/core/src/authorization/Turns.ts",
    tests: ["packages/core/test/authorization/Turns.test.ts"],
    faults: [
      {
        id: "turns-most",
        find: "< per_party &&",
        put: "< 1_000 &&",
        why: "A party uses a part of the places at most."
      },
      {
        id: "turns-most-of-key",
        find: "< per_credential\n",
        put: "< per_party\n",
        why: "A credential leaves other credentials of its party a place."
      },
      {
        id: "turns-in-a-round",
        find: "this.#waiting.delete(party)\n        if (queues",
        put: "if (queues",
        why: "Of the parties that wait each has a turn before any has a second one."
      },
      {
        id: "turns-of-keys-in-a-round",
        find: "queues.delete(credential)\n        if (second",
        put: "if (second",
        why: "Of the credentials of a party each has a turn before any has a second one."
      },
      {
        id: "turns-waiting",
        find: "if (queue.size >= this.#rules.waiting) return undefined",
        put: "",
        why: "What waits for one credential is bounded."
      },
      {
        id: "turns-given-back-meanwhile",
        find: "if (this.tryTake(requester)) {",
        put: "if (false) {",
        why: "A request does not wait for a place that is free."
      },
      {
        id: "turns-left",
        find: "if (!queue.delete(granted) || queue.size > 0) return",
        put: "if (queue.size > 0) return",
        why: "A request that has left is given no place."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/core/src/authorization/pacing.ts",
    tests: ["packages/core/test/authorization/pacing.test.ts"],
    faults: [
      {
        id: "pacing-turn",
        find: "for (const requester of ended) turns.give(requester)",
        put: "for (const requester of ended.slice(1)) turns.give(requester)",
        why: "A place is given back when the turn ends, so that what waits goes on."
      },
      {
        id: "pacing-most",
        find: "if (turns.tryTake(requester)) {",
        put: "turns.tryTake(requester)\n      {",
        why: "What has no place waits for one."
      },
      {
        id: "pacing-granted",
        find: "          begin()\n          resume(Effect.void)",
        put: "          resume(Effect.void)",
        why: "A place that was waited for is given back, too."
      },
      {
        id: "pacing-left",
        find: "return leave && Effect.sync(leave)",
        put: "return leave && Effect.void",
        why: "A request whose client is gone takes no turn."
      },
      {
        id: "pacing-own",
        find: "if (requester === null) return Effect.void",
        put: 'requester ??= { party: "", credential: "" }',
        why: "Calls of proxies, which are made for many, begin at once."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/http/src/server/HttpConventions.ts",
    tests: ["packages/http/test/server/pacing.test.ts"],
    faults: [
      {
        id: "requests-begin-in-turns",
        find: "pace(beginsAs(context, request, requester))",
        put: "Effect.void",
        why: "What one client sends at once does not begin at once."
      },
      {
        id: "requests-turns-of-credentials",
        find: "credential: authorization }",
        put: "credential }",
        why: "Clients of one address, as behind a gateway, take turns by what they send as credentials."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/core/src/operations/OperationWaits.ts",
    tests: ["packages/core/test/operations/OperationWaits.test.ts"],
    faults: [
      {
        id: "waits-end-in-turns",
        find: "Effect.tap(settled(operation, within), () => pace(requesterOf(caller)))",
        put: "settled(operation, within)",
        why: "Waits that end together do not all go on in one turn of the event loop."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/http/src/limits/callRate.ts",
    tests: ["packages/http/test/limits/callRate.test.ts"],
    faults: [
      {
        id: "call-rate-of-credential",
        find: "per_credential: atOnce(rate.per_credential)",
        put: "per_credential: atOnce(rate.per_party)",
        why: "One session or key leaves its person some of the rate."
      },
      {
        id: "call-rate-waiting",
        find: "rate.per_party) * patience",
        put: "rate.per_party) * patience * 10",
        why: "Calls that wait are bounded."
      },
      {
        id: "call-rate-spacing",
        find: "Math.max(now, last) + pause",
        put: "now + pause",
        why: "Calls that wait go on one after another: together they would delay the next call of every other party."
      },
      {
        id: "call-rate-credential-spacing",
        find: "Math.max(credentials.taken(credential, taken), parties.taken(party, taken)) - taken",
        put: "parties.taken(party, taken) - taken",
        why: "Calls of one credential that wait go on at its own rate."
      },
      {
        id: "call-rate-place",
        find: "granted ? hold(requester) : Effect.void",
        put: "Effect.void",
        why: "A call that has waited gives its place back, too."
      },
      {
        id: "call-rate-leave",
        find: "return Effect.sync(leave)",
        put: "return Effect.void",
        why: "A call that is interrupted takes no turn of another."
      },
      {
        id: "call-rate-end",
        find: "restore(bounded)",
        put: "restore(turn)",
        why: "A wait ends, however many credentials a party has."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/http/src/limits/Limits.ts",
    tests: ["packages/http/test/limits/hostTransaction.test.ts"],
    faults: [
      {
        id: "call-rate-host",
        find: "if (yield* inHostTransaction) return false",
        put: "",
        why: "A wait would hold the locks of a host's transaction."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/http/src/limits/Limits.ts",
    tests: ["packages/http/test/limits/callRates.test.ts"],
    faults: [
      {
        id: "call-rate-keys",
        find: 'inTurn("calls", calls, turnsOf(caller))',
        put: 'inTurn("calls", calls, requesterOf(caller))',
        why: "The session of a person who revokes API keys does not wait behind calls with those keys."
      },
      {
        id: "call-rate-refresh-apart",
        find: "credential: refreshes }",
        put: "credential: session }",
        why: "A session that makes calls without a pause is refreshed."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/http/src/middleware/Authentication.ts",
    tests: ["packages/http/test/limits/callRates.test.ts"],
    faults: [
      {
        id: "call-rate-revoked",
        find: "waited ? problems(callerOf(token)) : Effect.succeed(caller)",
        put: "Effect.succeed(caller)",
        why: "A credential that is revoked while its call waits is refused."
      },
      {
        id: "call-rate-refreshes",
        find: "yield* limits.beginRefresh(sid)",
        put: "",
        why: "Refreshes take turns."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/http/src/middleware/RateLimiting.ts",
    tests: ["packages/http/test/limits/callRates.test.ts"],
    faults: [
      {
        id: "call-rate-failures",
        find: "(yield* refuse) ?? (counts",
        put: "(counts",
        why: "Failed authentications take turns."
      },
      {
        id: "call-rate-ended",
        find: " || error instanceof SignInRequiredProblem",
        put: "",
        why: "Calls of a session that has ended take turns."
      },
      {
        id: "call-rate-ended-counts",
        find: 'counts ? yield* takePerAddress("failures") : undefined',
        put: 'yield* takePerAddress("failures")',
        why: "The end of a session is no failed authentication."
      }
    ]
  }
]
