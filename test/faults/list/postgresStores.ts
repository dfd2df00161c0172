// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** Operations and allowlists on Postgres. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const postgresStores: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/postgres/src/operations/PostgresOperationStore.ts",
    tests: ["packages/postgres/test/stores/edges.test.ts", "packages/postgres/test/stores/OperationStore.test.ts"],
    faults: [
      {
        id: "pg-claim-leased",
        find: "and (o.lease_until is null or o.lease_until <= $2)",
        put: "",
        why: "A leased operation is not claimed by another worker."
      },
      {
        id: "pg-claim-instant",
        find: "o.lease_until <= $2",
        put: "o.lease_until < $2",
        why: "A lease is over at its very instant."
      },
      {
        id: "pg-claim-retry",
        find: "             and (o.retry_at is null or o.retry_at <= $2)\n",
        put: "",
        why: "An operation is not claimed before its retry."
      },
      {
        id: "pg-claim-branch",
        find: "earlier.branch_id = o.branch_id and earlier.position < o.position",
        put: "earlier.branch_id = o.branch_id and earlier.position > o.position",
        why: "Operations of one branch run in the order of their creation."
      },
      {
        id: "pg-claim-open",
        find: 'earlier.position < o.position and ${isOpen("earlier")})',
        put: "earlier.position < o.position)",
        why: "A final operation holds up no other."
      },
      {
        id: "pg-claim-oldest",
        find: "order by o.position limit 1 for update",
        put: "order by o.position desc limit 1 for update",
        why: "The oldest operation that is due comes first."
      },
      {
        id: "pg-claim-skip",
        find: "limit 1 for update skip locked",
        put: "limit 1",
        why: "Of two workers at once one gets an operation."
      },
      {
        id: "pg-extend-owner",
        find: 'where o.id = $1 and o.lease_owner = $2 and ${isOpen("o")}',
        put: 'where o.id = $1 and $2::text is not null and ${isOpen("o")}',
        why: "Only the worker that holds a lease extends it."
      },
      {
        id: "pg-list-order",
        find: "order by id desc limit $3",
        put: "order by id limit $3",
        why: "A list begins with the newest operation."
      },
      {
        id: "pg-list-after",
        find: "where project_id = $1 and id < $2",
        put: "where project_id = $1 and id <= $2",
        why: "The next page begins behind the last."
      },
      {
        id: "pg-unfinished-order",
        find: 'where o.branch_id = $1 and ${isOpen("o")} order by o.position`',
        put: 'where o.branch_id = $1 and ${isOpen("o")} order by o.position desc`',
        why: "Unfinished operations are listed oldest first."
      },
      {
        id: "pg-lock",
        find: "where id = $1 for update",
        put: "where id = $1",
        why: "A locked operation keeps other transactions waiting."
      },
      {
        id: "pg-insert-turns",
        find: "return operation.branch_id === null ? insert : exclusively",
        put: "return operation.branch_id !== null ? insert : exclusively",
        why: "Operations of a branch are seen in the order of their commits."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/postgres/src/allowlist/PostgresIpAllowlistStore.ts",
    tests: ["packages/postgres/test/stores/edges.test.ts", "packages/postgres/test/stores/IpAllowlistStore.test.ts"],
    faults: [
      {
        id: "pg-list-version",
        find: "do update set version = list.version + 1",
        put: "do update set version = list.version",
        why: "Each change raises the list's version."
      },
      {
        id: "pg-list-lock-version",
        find: "do update set version = list.version`",
        put: "do update set version = list.version + 1`",
        why: "A lock changes no version."
      },
      {
        id: "pg-list-rules-order",
        find: "where project_id = $1 order by position",
        put: "where project_id = $1 order by position desc",
        why: "Rules are in the order in which they were listed."
      },
      {
        id: "pg-list-project",
        find: "where rule.project_id = it.project_id) as rules",
        put: "where rule.project_id is not null) as rules",
        why: "A project's list has its own rules."
      },
      {
        id: "pg-list-missing",
        find: "left join ip_allowlist list",
        put: "join ip_allowlist list",
        why: "A project that never had a rule has an empty list."
      },
      {
        id: "pg-list-put",
        find: '"delete from ip_rule where project_id = $1 and cidr = $2 returning *"',
        put: '"select * from ip_rule where project_id = $1 and cidr = $2"',
        why: "A network is listed once."
      },
      {
        id: "pg-list-clear",
        find: '"delete from ip_rule where project_id = $1", [project]',
        put: '"delete from ip_rule where project_id = $1 and expires_at is not null", [project]',
        why: "A cleared list is empty."
      },
      {
        id: "pg-list-remove",
        find: "delete from ip_rule where project_id = $1 and cidr = $2 returning cidr",
        put: "delete from ip_rule where project_id = $1 and cidr <> $2 returning cidr",
        why: "The rule of that network is removed and no other."
      }
    ]
  }
]
