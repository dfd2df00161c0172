/** The limits of what waits on a branch, and of its credentials. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "operations"

export const branchQueues: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/provisioning/branchQueue.ts",
    tests: ["packages/core/test/provisioning/branchQueue.test.ts"],
    faults: [
      {
        id: "queue-alternation",
        find: 'yield* operations.move(row, "cancelled")',
        put: "",
        why: "A start or suspend that has not begun is cancelled by its opposite."
      },
      {
        id: "queue-system-cancels",
        find: 'initiator.type === "user" || initiator.type === "api_key"',
        put: 'initiator.type !== "proxy"',
        why: "A suspend for idleness cancels no start."
      },
      {
        id: "queue-without-limit",
        find: "waiting.length >= mostUnfinished",
        put: "waiting.length > mostUnfinished",
        why: "A branch on which as many operations wait as may takes no more."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/provisioning/applyRoles.ts",
    tests: ["packages/core/test/provisioning/branchQueue.test.ts"],
    faults: [
      {
        id: "queue-mints",
        find: "(yield* unbegun(branch_id)) ?? ",
        put: "",
        why: "Mints share the operation that applies the roles."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/core/src/provisioning/mayMintMore.ts",
    tests: ["packages/core/test/provisioning/Credentials.quota.test.ts"],
    faults: [
      {
        id: "mint-own-readers",
        find: "own >= ownReaders",
        put: "own > ownReaders",
        why: "A caller who may not write to a branch has four credentials of it."
      },
      {
        id: "mint-most-readers",
        find: 'present.filter(({ access }) => access === "read_only").length',
        put: 'present.filter(({ access }) => access === "read_write").length',
        why: "Readers of callers who may not write leave places for writers."
      },
      {
        id: "mint-without-quota",
        find: 'yield* quotas.takeOne(org, "credentials_per_branch", present.length)',
        put: "yield* Effect.succeed([quotas, org])",
        why: "A branch has a quota of credentials."
      }
    ]
  }
]
