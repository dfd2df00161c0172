/** The clients that allowlists refused. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const clientRefusals: ReadonlyArray<FaultsOfFile> = [
  {
    area: "allowlist",
    file: "packages/core/src/allowlist/ClientRefusal.ts",
    tests: ["packages/core/test/allowlist/ClientRefusal.test.ts"],
    faults: [
      {
        id: "refusals-role-form",
        find: "role !== null && isRoleName(role) ? role : null",
        put: "role",
        why: "What a stranger types where the role belongs may be a password."
      },
      {
        id: "refusals-merged",
        find: "merged.set(key, same === undefined ? refusal : merge(same, refusal))",
        put: "merged.set(key, refusal)",
        why: "Several entries of one address at one endpoint are added up."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/core/src/allowlist/ClientRefusals.ts",
    tests: ["packages/http/test/handlers/clientRefusals.test.ts"],
    faults: [
      {
        id: "refusals-visible-roles",
        find: "store.list(project, visibleRoles(caller), page)",
        put: "store.list(project, visibleRoles(caller) && null, page)",
        why: "Members and agent keys do not see the roles of others."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/core/src/retention.ts",
    tests: ["packages/core/test/retention.test.ts"],
    faults: [
      {
        id: "refusals-retention",
        find: "  yield* (yield* ClientRefusalStore).purge(before(refusalLimits.retention))\n",
        put: "  yield* ClientRefusalStore\n",
        why: "Addresses of refused clients are purged after seven days."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/postgres/src/allowlist/PostgresClientRefusalStore.ts",
    tests: ["packages/postgres/test/stores/ClientRefusalStore.test.ts"],
    faults: [
      {
        id: "refusals-once",
        find: "where last.sequence < excluded.sequence returning 1",
        put: "returning 1",
        why: "A report that is sent again counts once."
      },
      {
        id: "refusals-bounded",
        find: "order by r.position desc offset $2",
        put: "order by r.position offset $2",
        why: "The last refusals of a project stay, and older ones go."
      }
    ]
  }
]
