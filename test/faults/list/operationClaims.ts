/** Planted faults: which operation is claimed next, and whose turn it is. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const operationClaims: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/core/src/operations/nextClaim.ts",
    tests: ["packages/core/test/operations/OperationStore.test.ts"],
    faults: [
      {
        id: "claim-leased",
        find: "past(lease_until, now) &&",
        put: "",
        why: "A leased operation is not claimed by another worker."
      },
      {
        id: "claim-retry",
        find: "past(retry_at, now) &&",
        put: "",
        why: "An operation is not claimed before its retry."
      },
      {
        id: "claim-instant",
        find: "DateTime.isLessThanOrEqualTo(instant, now)",
        put: "DateTime.isLessThan(instant, now)",
        why: "A lease is over at its very instant."
      },
      {
        id: "claim-branch-order",
        find: "const first = !seen.has(branch_id)",
        put: "const first = true",
        why: "Operations of one branch run one after another."
      },
      {
        id: "claim-no-branch",
        find: "if (branch_id === null) return true",
        put: "",
        why: "Operations without a branch do not wait for each other."
      },
      {
        id: "claim-final",
        find: "rows.filter((row) => !isFinal(row.status))",
        put: "rows",
        why: "A final operation is never claimed, nor waited for."
      },
      {
        id: "claim-class",
        find: "classOf(row.action) === limits.class",
        put: "true",
        why: "A claim of one class takes no operation of another."
      },
      {
        id: "claim-per-org",
        find: "count(turnsOf({ org_id, project_id }, person)[0]) < limits.per_org &&",
        put: "",
        why: "The organizations of a person have a limited number of claimed operations."
      },
      {
        id: "claim-per-parent",
        find: "copiesOf(copies) < limits.per_parent &&",
        put: "",
        why: "Copies of one branch are limited."
      },
      {
        id: "claim-parent-written",
        find: " && !beingWritten.has(copies)",
        put: "",
        why: "A copy waits while its parent's data is being made."
      },
      {
        id: "claim-fewest",
        find: "[count(turn), served(turn), turn]",
        put: "[served(turn), turn]",
        why: "The person with the fewest claimed operations comes first."
      },
      {
        id: "claim-turn",
        find: "[count(turn), served(turn), turn]",
        put: "[count(turn), turn]",
        why: "People, organizations and projects take turns."
      },
      {
        id: "claim-person",
        find: "person(org_id)}`",
        put: "org_id}`",
        why: "The organizations of a person take one turn, and share the limit."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/accounts/personOf.ts",
    tests: ["packages/core/test/operations/OperationStore.test.ts"],
    faults: [
      {
        id: "person-founder",
        find: "owners.find(({ user_id }) => user_id === founder) ?? owners[0]",
        put: "owners[0]",
        why: "An organization counts for its founder, also where another owner is in it for longer."
      },
      {
        id: "person-left",
        find: 'role === "owner"',
        put: "true",
        why: "An organization does not count for a founder who is no owner."
      },
      {
        id: "person-without-owner",
        find: " ?? owners[0])",
        put: ")",
        why: "Without its founder an organization counts for its owner of longest standing."
      },
      {
        id: "person-personal",
        find: "if (personal) return org",
        put: "if (personal && memberships.length === 0) return org",
        why: "A personal organization counts for its person."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/migrations/0018b_people.ts",
    tests: ["packages/postgres/test/stores/claimLocks.test.ts", "packages/postgres/test/stores/OperationStore.test.ts"],
    faults: [
      {
        id: "pg-claim-person",
        find: "organization_person(org.id) as person",
        put: "org.id as person",
        why: "The organizations of a person take one turn, and share the limit."
      },
      {
        id: "pg-claim-person-turn",
        find: "coalesce(p.served, 0), c.person,",
        put: "c.person,",
        why: "People take turns."
      },
      {
        id: "pg-person-left",
        find: "m.user_id = f.user_id and m.role = 'owner'",
        put: "m.user_id = f.user_id",
        why: "An organization does not count for a founder who is no owner."
      },
      {
        id: "pg-claim-waits",
        find: "for update skip locked;",
        put: "for update;",
        why: "A claim does not wait for an operation that a transaction is changing."
      },
      {
        id: "pg-claim-class-lock",
        find: "  perform pg_advisory_xact_lock(hashtextextended('operation_claim ' || p_class, 0));\n",
        put: "",
        why: "Claims of one class count those that are not committed yet."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/migrations/0007_operations.ts",
    tests: ["packages/postgres/test/stores/claimLocks.test.ts", "packages/postgres/test/stores/OperationStore.test.ts"],
    faults: [
      {
        id: "pg-claim-branch-lock",
        find: "perform pg_advisory_xact_lock(hashtextextended('operation ' || v_branch, 0));",
        put: "null;",
        why: "An operation that is added while the one before it ends can be claimed."
      },
      {
        id: "pg-claim-next",
        find: "if found then perform operation_put_head(v_next); end if;",
        put: "",
        why: "The next operation of a branch can be claimed after the one before it."
      }
    ]
  }
]
