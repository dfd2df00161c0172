// biome-ignore-all lint/suspicious/noTemplateCurlyInString: faults quote templates
/** The rights of database roles, as Postgres executes them. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const roles: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/compute-roles/src/Withdrawals.ts",
    tests: ["packages/local-postgres/test/UncheckedCalls.test.ts"],
    faults: [
      {
        id: "roles-unchecked-functions",
        find: "AND oid IN (${uncheckedFunctions})",
        put: "AND oid IN (${uncheckedFunctions}) AND false",
        why: "Postgres calls the functions of aggregates, range types, operators and casts without asking for EXECUTE."
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
        id: "roles-public-writes",
        find: "FROM foreign_to_owner WHERE privilege_type <> reading AND grantee NOT IN (SELECT role FROM trusted)",
        put: "FROM foreign_to_owner WHERE false",
        why: "What an agent granted PUBLIC in a sandbox is revoked when the sandbox becomes main.",
        tests: ["packages/local-postgres/test/ReadOnlyRoles.test.ts", "test/agents/main.test.ts"]
      }
    ]
  },
  {
    area: "computes",
    file: "packages/compute-roles/src/SharedObjects.ts",
    tests: ["packages/local-postgres/test/ReadOnlyRoles.test.ts", "test/agents/main.test.ts"],
    faults: [
      {
        id: "roles-new-functions",
        find: " UNION ALL ${open}",
        put: "",
        why: "A new function may have the rights of its definer, and PUBLIC may not execute it."
      },
      {
        id: "roles-dumped-grants",
        find: "WHEN given <> '{}' THEN standard || given END",
        put: "END",
        why: "A grant to a group of the platform fails on every other server.",
        tests: ["packages/local-postgres/test/Dumps.test.ts"]
      }
    ]
  },
  {
    area: "computes",
    file: "packages/compute-roles/src/roleDifference.ts",
    tests: ["packages/local-postgres/test/ReadOnlyRoles.test.ts"],
    faults: [
      {
        id: "roles-needed",
        find: "!state.settled || ",
        put: "",
        why: "A right that the owner makes while the branch runs is found."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/enforceRoles.ts",
    tests: ["packages/local-postgres/test/Revocation.test.ts"],
    faults: [
      {
        id: "roles-restart",
        find: '"RoleRefused" || !first.failure.revokes) return',
        put: '"RoleRefused" || true) return',
        why: "A revocation that is not done in time restarts the server."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/compute-roles/src/applyRoles.ts",
    tests: ["packages/local-postgres/test/MintedRoles.test.ts"],
    faults: [
      {
        id: "roles-blockers",
        find: "pid = ANY (pg_blocking_pids(${pid}::int))",
        put: "false AND pid = ANY (pg_blocking_pids(${pid}::int))",
        why: "A session that holds up a revocation ends."
      },
      {
        id: "roles-former-sessions",
        find: "[...changes.retired, ...former]",
        put: "changes.retired",
        why: "The sessions of roles that an earlier call retired end."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/compute-roles/src/MintedRoles.ts",
    tests: ["packages/local-postgres/test/MintedRoles.test.ts"],
    faults: [
      {
        id: "roles-kept-password",
        find: "states.has(role.role) && states.get(role.role) !== stateOf(role)",
        put: "states.has(role.role) && states.get(role.role) === undefined",
        why: "A password that a role set for itself is replaced."
      },
      {
        id: "roles-reserved",
        find: "/^(pg_|narthex)/.test(role) || ",
        put: "",
        why: "A role of the platform cannot be minted."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/BranchFences.ts",
    tests: ["packages/local-postgres/test/BranchFences.test.ts"],
    faults: [
      {
        id: "fences-lower",
        find: "fence !== null && fence < (seen.get(branch) ?? fence)",
        put: "fence !== null && fence < 0",
        why: "A call with a lower fence is refused."
      },
      {
        id: "fences-interrupt",
        find: "fiber.interruptUnsafe()",
        put: "fiber.pollUnsafe()",
        why: "A later call interrupts an earlier one."
      }
    ]
  }
]
