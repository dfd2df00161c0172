// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** What read-only roles of local computes may do. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const readOnly = ["packages/local-postgres/test/ReadOnlyRoles.test.ts", "test/agents/main.test.ts"]

export const readOnlyRoles: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/RoleGroups.ts",
    tests: readOnly,
    faults: [
      {
        id: "roles-new-functions",
        find: "AND NOT EXISTS (SELECT FROM aclexplode(defaclacl) WHERE grantee = 0))",
        put: ") AND false",
        why: "A new function may have the rights of its definer, and PUBLIC may not execute it."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/Withdrawals.ts",
    tests: ["packages/local-postgres/test/UncheckedCalls.test.ts"],
    faults: [
      {
        id: "roles-unchecked-functions",
        find: "AND oid IN (${uncheckedFunctions})",
        put: "AND oid IN (${uncheckedFunctions}) AND false",
        why: "Postgres calls the functions of aggregates, range types, operators and casts without asking for EXECUTE."
      },
      {
        id: "roles-restricted-aggregates",
        find: "OR p.oid IN (${restrictedAggregates})",
        put: "OR p.oid IN (${restrictedAggregates}) AND false",
        why: "An aggregate of its writer executes a function of Postgres that its caller may not execute."
      },
      {
        id: "roles-restricted-operators",
        find: "AND ${hasRestrictedOperator}",
        put: "AND NOT ${hasRestrictedOperator}",
        why: "The planner executes the function of an operator to estimate it."
      },
      {
        id: "roles-locking-views",
        find: "LIKE '%{ROWMARKCLAUSE %'",
        put: "LIKE '%{NO ROWMARKCLAUSE %'",
        why: "A view locks rows with the rights of its owner."
      },
      {
        id: "roles-locking-policies",
        find: "OR r.oid IN (${rulesOverLockingPolicies})",
        put: "",
        why: "The policy of a table locks rows with the rights of the view's owner."
      },
      {
        id: "roles-temporary-views",
        find: "AND relpersistence <> 't' ",
        put: "",
        why: "The view of another session's temporary objects cannot be altered, and would hold up all roles."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/Withdrawals.ts",
    tests: readOnly,
    faults: [
      {
        id: "roles-public-writes",
        find: "FROM foreign_to_owner WHERE privilege_type <> reading AND grantee NOT IN (SELECT role FROM trusted)",
        put: "FROM foreign_to_owner WHERE false",
        why: "What an agent granted PUBLIC in a sandbox is revoked when the sandbox becomes main."
      },
      {
        id: "roles-definer-functions",
        find: "coalesce(proacl, acldefault('f', proowner))",
        put: "proacl",
        why: "A function of a writer is executable by PUBLIC from the beginning."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/roleDifference.ts",
    tests: ["packages/local-postgres/test/ReadOnlyRoles.test.ts"],
    faults: [
      {
        id: "roles-needed",
        find: "!state.settled || ",
        put: "",
        why: "A right that the owner makes while the branch runs is found."
      }
    ]
  }
]
