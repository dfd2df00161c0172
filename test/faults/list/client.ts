/** The typed client. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const client: ReadonlyArray<FaultsOfFile> = [
  {
    area: "client",
    file: "packages/api/src/client/retries.ts",
    tests: ["packages/http/test/client/retries.test.ts"],
    faults: [
      {
        id: "client-key-kept",
        find: 'const keyed = Effect.provideService(call, ClientHeaders, { ...headers, "idempotency-key": key })',
        put: 'const keyed = Effect.flatMap(newKey, (fresh) => Effect.provideService(call, ClientHeaders, { ...headers, "idempotency-key": given ?? fresh + key }))',
        why: "All attempts of a call have one idempotency key."
      },
      {
        id: "client-unsafe-repeated",
        find: "if (Exit.isSuccess(exit) || !safe) return yield* exit",
        put: "if (Exit.isSuccess(exit)) return yield* exit",
        why: "A call that the server does not replay is sent once."
      }
    ]
  },
  {
    area: "client",
    file: "packages/api/src/client/retries.ts",
    tests: ["packages/api/test/client/retries.test.ts"],
    faults: [
      {
        id: "client-lease-counted",
        find: 'if (code === "idempotency_in_progress") return "wait"',
        put: 'if (code === "idempotency_in_progress") return "again"',
        why: "A key that another attempt holds is asked for until its lease ends."
      },
      {
        id: "client-endless-wait",
        find: "if (spent + pause >= within) return yield* exit",
        put: "",
        why: "A call does not wait longer than its bound."
      }
    ]
  },
  {
    area: "client",
    file: "packages/api/src/client/ClientSession.ts",
    tests: ["packages/http/test/client/sessions.test.ts"],
    faults: [
      {
        id: "client-switch-adopted",
        find: "return isSession(session) ? session : undefined",
        put: "return isSession(session) ? undefined : undefined",
        why: "A client continues in the organization that it switched to."
      }
    ]
  },
  {
    area: "client",
    file: "packages/api/src/client/pages.ts",
    tests: ["packages/api/test/client/pages.test.ts"],
    faults: [
      {
        id: "client-pages-repeated",
        find: "if (seen.has(next)) return",
        put: "if (seen.has(next)) return [[answer], Option.none<string>()] as const\n        if (seen.has(next)) return",
        why: "A server that repeats a page does not keep the client."
      }
    ]
  },
  {
    area: "client",
    file: "packages/api/src/client/SessionKeeper.ts",
    tests: ["packages/api/test/client/SessionKeeper.test.ts"],
    faults: [
      {
        id: "client-refresh-shared",
        find: "if (newest !== undefined && !isStale(newest)) return newest",
        put: "",
        why: "Calls that find the same token stale share one refresh."
      },
      {
        id: "client-refresh-ends",
        find: "Effect.flatMap(Effect.forkDetach(locked), Fiber.join)",
        put: "Effect.flatMap(Effect.forkChild(locked), Fiber.join)",
        why: "A refresh runs to its end when the call that began it is interrupted."
      },
      {
        id: "client-switch-locked",
        find: "lock.withPermit(\n        Effect.tap",
        put: "Effect.suspend(() =>\n        Effect.tap",
        why: "A refresh during a switch does not bring back the organization that the person left."
      }
    ]
  },
  {
    area: "client",
    file: "packages/api/src/client/promises/endpoints.ts",
    tests: ["packages/http/test/client/calls.test.ts"],
    faults: [
      {
        id: "client-dots",
        find: 'part === "params" && typeof value === "string" && !isSegment(value)',
        put: "false",
        why: "An id of dots does not reach another path."
      }
    ]
  },
  {
    area: "client",
    file: "packages/api/src/client/promises/createClient.ts",
    tests: ["packages/http/test/client/retries.test.ts"],
    faults: [
      {
        id: "client-secret-lost",
        find: "secretMembers.some((name) => json[name] === null)",
        put: "secretMembers.some(() => false)",
        why: "A replay without its secret is not an answer."
      }
    ]
  },
  {
    area: "client",
    file: "packages/api/src/client/refusals.ts",
    tests: ["packages/api/test/client/refusals.test.ts"],
    faults: [
      {
        id: "client-codecs-of-refusals",
        find: "Array.from(endpoint.middlewares, ({ key }) => ({ key, error: [] }))",
        put: "[...endpoint.middlewares]",
        why: "A call that succeeds makes no codec of its errors."
      },
      {
        id: "client-refusal-undecoded",
        find: "if (response === undefined) return Effect.fail(error)",
        put: "if (response === undefined || decode === undefined) return Effect.fail(error)",
        why: "A refusal is the problem that the contract declares."
      }
    ]
  },
  {
    area: "client",
    file: "packages/api/src/problems/madeByFirstUse.ts",
    tests: ["packages/api/test/madeByFirstUse.test.ts"],
    faults: [
      {
        id: "problem-class-made-again",
        find: "if (made === undefined) {",
        put: "{",
        why: "A class is made once."
      }
    ]
  }
]
