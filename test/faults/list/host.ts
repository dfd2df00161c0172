// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** The host's transaction, and events of the host. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const transactions = [
  "packages/postgres/test/host/hostTransaction.test.ts",
  "packages/postgres/test/host/refusals.test.ts"
]
const events = ["packages/core/test/host-events/HostEvents.test.ts"]

export const host: ReadonlyArray<FaultsOfFile> = [
  {
    area: "host",
    file: "packages/postgres/src/migrations/0015_joined_events.ts",
    tests: transactions,
    faults: [
      {
        id: "host-place-at-commit",
        find: "deferrable initially deferred",
        put: "deferrable initially immediate",
        why: "An event of a host's transaction takes its place at the commit."
      }
    ]
  },
  {
    area: "host",
    file: "packages/postgres/src/host/placing.ts",
    tests: transactions,
    faults: [
      {
        id: "host-temporary-table",
        find: "search_path: `${schema}, pg_temp`",
        put: "search_path: schema",
        why: "A temporary table of the host hides no table."
      },
      {
        id: "host-put-back",
        find: "const set = Object.entries(before)",
        put: "const set = Object.entries(before).slice(1)",
        why: "The host's settings are set back."
      }
    ]
  },
  {
    area: "host",
    file: "packages/postgres/src/host/joining.ts",
    tests: transactions,
    faults: [
      {
        id: "host-isolation",
        find: 'found.isolation !== "read committed" && found.isolation !== "read uncommitted"',
        put: 'found.isolation === "serializable"',
        why: "A snapshot of the transaction's start is refused."
      },
      {
        id: "host-doomed",
        find: "Exit.isSuccess(exit) && attempt.doom === undefined",
        put: "Exit.isSuccess(exit)",
        why: "A failed statement dooms the call, even when it is caught."
      },
      {
        id: "host-same-transaction",
        find: "if (!(rows[0] as { readonly same: boolean }).same)",
        put: "if (rows.length === 0)",
        why: "A transaction that ended during the call is noticed."
      }
    ]
  },
  {
    area: "host",
    file: "packages/core/src/host-events/HostEvents.ts",
    tests: events,
    faults: [
      {
        id: "host-event-size",
        find: "(yield* EventSettings).event_bytes - envelopeBytes",
        put: "(yield* EventSettings).event_bytes",
        why: "A published event fits into a frame."
      },
      {
        id: "host-event-organization",
        find: "yield* orNotFound(accounts.holdOrganization(org_id))",
        put: "yield* accounts.findOrganization(org_id)",
        why: "The organization of an event exists."
      }
    ]
  },
  {
    area: "host",
    file: "packages/core/src/host-events/EventTypes.ts",
    tests: events,
    faults: [
      {
        id: "host-event-reserved",
        find: "return reservedWords.has(first)",
        put: "return first === type",
        why: "A host cannot publish the control plane's types."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/sessions/hostSession.ts",
    tests: ["packages/narthex/test/hostSession.test.ts"],
    faults: [
      {
        id: "host-session-site",
        find: 'return site === "same-origin" || site === "none"',
        put: 'return site !== "cross-site"',
        why: "A sibling site sends no changes with the host's session."
      },
      {
        id: "host-session-origin",
        find: "URL.canParse(origin) && new URL(origin).host === new URL(url).host",
        put: 'origin === "" || (URL.canParse(origin) && new URL(origin).host === new URL(url).host)',
        why: "A change that does not say where it comes from is refused."
      },
      {
        id: "host-session-stored",
        find: "    yield* neverStored\n",
        put: "",
        why: "A shared cache stores no answer for a person of the host's session."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/middleware/Authentication.ts",
    tests: ["packages/narthex/test/hostSession.test.ts"],
    faults: [
      {
        id: "host-session-header",
        find: 'headers["authorization"] === undefined ? ofHost',
        put: 'headers["authorization"] !== "" ? ofHost',
        why: "A credential that was sent is the request's."
      }
    ]
  },
  {
    area: "host",
    file: "packages/postgres/src/PostgresTransaction.ts",
    tests: ["packages/postgres/test/host/apart.test.ts"],
    faults: [
      {
        id: "host-apart",
        find: "Effect.provideService(work, Attempts, new Map())",
        put: "work",
        why: "What is counted does not roll back with the host."
      }
    ]
  },
  {
    area: "host",
    file: "packages/narthex/src/host/clients.ts",
    tests: ["packages/narthex/test/transaction.test.ts"],
    faults: [
      {
        id: "host-client-refused",
        find: "if (changes && !response.ok)",
        put: "if (response.ok === undefined)",
        why: "What a refused change has made does not commit."
      },
      {
        id: "host-client-late-read",
        find: "if (ended) throw late()\n    if (changes",
        put: "if (ended && changes) throw late()\n    if (changes",
        why: "A read that is not over when the work ends is refused."
      },
      {
        id: "host-client-awaited",
        find: "return changing.size === 0 ? broken : late()",
        put: "return broken",
        why: "A change that is not over does not commit."
      },
      {
        id: "host-client-endless",
        find: "if (isEndless(request)) throw",
        put: "if (isEndless(request) && ended) throw",
        why: "A transaction waits for no stream."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/middleware/sharing.ts",
    tests: ["packages/http/test/middleware/sharing.test.ts"],
    faults: [
      {
        id: "shared-in-transaction",
        find: "(hosted ? read : shared(key, read))",
        put: "(hosted ? shared(key, read) : shared(key, read))",
        why: "No other request gets what a host has not committed."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/authorization/Roles.ts",
    tests: ["packages/core/test/authorization/Roles.test.ts"],
    faults: [
      {
        id: "own-role-covers",
        find: "includes(ownPermissionsOf(role), ownPermissionsOf(other))",
        put: "true",
        why: "No member grants an own permission that they lack."
      },
      {
        id: "own-role-built-in",
        find: "find((name) => isKnownRole(name) || !roleName.test(name))",
        put: "find((name) => !roleName.test(name))",
        why: "A built-in role cannot be replaced."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/organizations/roleChange.ts",
    tests: ["packages/core/test/organizations/Organizations.test.ts"],
    faults: [
      {
        id: "own-role-known",
        find: "isKnown(role) ? Effect.void : new InvalidMember",
        put: "isKnown(role) || role !== '' ? Effect.void : new InvalidMember",
        why: "A role that the program does not have is refused by its name."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/authorization/decideOwn.ts",
    tests: ["packages/core/test/authorization/Roles.test.ts"],
    faults: [
      {
        id: "own-permission-scope",
        find: 'ids.project_id !== undefined ? "project" : "organization"',
        put: '"project"',
        why: "A narrowed key does not reach what belongs to the organization."
      }
    ]
  }
]
