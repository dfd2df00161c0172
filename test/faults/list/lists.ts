// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** Lists that are read page by page, and invitations. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const lists: ReadonlyArray<FaultsOfFile> = [
  {
    area: "credentials",
    file: "packages/postgres/src/accounts/PostgresAccountStore.ts",
    tests: ["packages/postgres/test/stores/pages.test.ts", "packages/postgres/test/stores/AccountStore.test.ts"],
    faults: [
      {
        id: "members-limit",
        find: "m.user_id < $2 order by m.user_id desc limit $3",
        put: "m.user_id < $2 order by m.user_id desc limit $3 + 1000",
        why: "A page of members reads at most one row more than it shows."
      },
      {
        id: "other-owner",
        find: "role = 'owner' and user_id <> $2 limit 1",
        put: "user_id <> $2 limit 1",
        why: "Only an owner counts as another owner."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/postgres/src/accounts/PostgresInvitationStore.ts",
    tests: ["packages/postgres/test/stores/pages.test.ts", "packages/postgres/test/stores/InvitationStore.test.ts"],
    faults: [
      {
        id: "invitations-keyset",
        find: "where org_id = $1 and id < $2 order by id desc limit $3",
        put: "where org_id = $1 and ($2::text is null or id < $2) order by id desc limit $3",
        why: "A page of invitations does not read the rows before it."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/Ids.ts",
    tests: ["packages/http/test/handlers/ids.test.ts"],
    faults: [
      {
        id: "id-nul",
        find: '!text.includes("\\u0000") && text.isWellFormed()',
        put: "text.isWellFormed()",
        why: "An id with NUL answers like an unknown one."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/operations/OperationWaits.ts",
    tests: ["packages/core/test/operations/OperationWaits.test.ts"],
    faults: [
      {
        id: "waits-shared",
        find: "if (running !== undefined) {",
        put: "if (running !== undefined && running.waits < 0) {",
        why: "All waits of an operation share its reads."
      },
      {
        id: "waits-fallback",
        find: "Effect.timeoutOption(Deferred.await(watch.changed), lookAgain)",
        put: "Deferred.await(watch.changed)",
        why: "A missed event delays a wait, and does not end it."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/database/Database.ts",
    tests: ["packages/postgres/test/sessionLimits.test.ts"],
    faults: [
      {
        id: "session-limits",
        find: "...(prepare ? { startupParameters: parameters } : {})",
        put: "",
        why: "A lock that is not released fails a statement."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/driver/Attempt.ts",
    tests: ["packages/postgres/test/transaction.test.ts"],
    faults: [
      {
        id: "statement-failed",
        find: "attempt.doom ??= cause",
        put: "attempt.doom = undefined",
        why: "A transaction with a failed statement commits nothing."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/driver/pipelining.ts",
    tests: ["packages/postgres/test/pipelining.test.ts"],
    faults: [
      {
        id: "pipeline-silent",
        find: "lent === undefined ? Effect.void : invalidate(lent)",
        put: "Effect.void",
        why: "A connection without answers is given up."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/organizations/Invitations.ts",
    tests: ["packages/core/test/organizations/Invitations.test.ts", "test/races/invitations.test.ts"],
    faults: [
      {
        id: "invitation-revoked-again",
        find: 'if (status === "revoked") return yield* new NotFound({})',
        put: "",
        why: "A revoked invitation is not found."
      }
    ]
  }
]
