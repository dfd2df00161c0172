// biome-ignore-all lint/suspicious/noTemplateCurlyInString: faults quote templates
/** Statements of the stores: bounds, locks, fences, and what stays inside an organization. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const statements: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/postgres/src/operations/PostgresOperationStore.ts",
    tests: ["packages/postgres/test/stores/order.test.ts", "packages/postgres/test/stores/OperationStore.test.ts"],
    faults: [
      {
        id: "pg-held-owner",
        find: "${row}.lease_owner = $2 and ",
        put: "$2::text is not null and ",
        why: "Only the worker that holds a lease extends it."
      },
      {
        id: "pg-held-fence",
        find: "${row}.fence = $3 and",
        put: "$3::bigint is not null and",
        why: "An earlier claim of the same worker holds nothing."
      },
      {
        id: "pg-extend-cancelling",
        find: 'held.status === "cancelling" ? "cancelling" : "kept"',
        put: '"kept"',
        why: "A worker learns that its operation is to be cancelled."
      },
      {
        id: "pg-claim-waits-for-nothing",
        find: "where exists (select from narthex.operation_head where region_id = $4 and class = $1 and due_at <= $2)",
        put: "where $1 is not null and $2::timestamptz is not null",
        why: "A claim that finds nothing due does not wait for the other claims of the class.",
        tests: ["packages/postgres/test/stores/claimLocks.test.ts"]
      },
      {
        id: "pg-insert-turns",
        find: 'select ${lockOf("$2")} as held',
        put: "select $2 as held",
        why: "Operations of a branch are seen in the order of their commits."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/postgres/src/allowlist/PostgresIpAllowlistStore.ts",
    tests: ["packages/postgres/test/stores/IpAllowlistStore.test.ts"],
    faults: [
      {
        id: "pg-list-version",
        find: "do update set version = list.version + 1",
        put: "do update set version = list.version",
        why: "Each change raises the list's version."
      },
      {
        id: "pg-list-refusal",
        find: '            yield* query("IpAllowlistStore.change", undo, [project])\n',
        put: "",
        why: "A refused change leaves the version as it is."
      },
      {
        id: "pg-list-remove-project",
        find: "where project_id = $1 and cidr = any($2)",
        put: "where $1 <> '' and cidr = any($2)",
        why: "The rules of other lists stay."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/projects/PostgresEndpointStore.ts",
    tests: ["packages/postgres/test/stores/EndpointStore.test.ts"],
    faults: [
      {
        id: "pg-endpoint-becomes-second",
        find: " and (type = $3 or $3 <> 'read_write' or deleted_at is not null)",
        put: " and $3::text is not null",
        why: "A branch has one read-write endpoint, also where another one changes its type."
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
  },
  {
    area: "quotas",
    file: "packages/postgres/src/quotas/PostgresQuotaStore.ts",
    tests: ["packages/postgres/test/stores/QuotaStore.test.ts"],
    faults: [
      {
        id: "quota-lock-none",
        find: 'lockOf("name")',
        put: 'lockOf("name || random()::text")',
        why: "Parallel creations of an organization wait for each other."
      },
      {
        id: "quota-deleted-branch-free",
        find: "where not d.branch_id in (select",
        put: "where true or not d.branch_id in (select",
        why: "The disk of a branch counts until its data is gone."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/postgres/src/overviews/PostgresOverviewStore.ts",
    tests: ["packages/postgres/test/stores/OverviewStore.test.ts"],
    faults: [
      {
        id: "overviews-foreign-names",
        find: "from narthex.project where org_id = $1 and id = any ($2::text[]))",
        put: "from narthex.project where $1::text is not null and id = any ($2::text[]))",
        why: "Names are those of the organization."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/postgres/src/accounts/PostgresAccountStore.ts",
    tests: ["packages/postgres/test/stores/pages.test.ts", "packages/postgres/test/stores/AccountStore.test.ts"],
    faults: [
      {
        id: "other-owner",
        find: "role = 'owner' and user_id <> $2 limit 1",
        put: "user_id <> $2 limit 1",
        why: "Only an owner counts as another owner."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/postgres/src/limits/PostgresRateLimiter.ts",
    tests: ["packages/postgres/test/stores/RateLimiter.test.ts"],
    faults: [
      {
        id: "limits-refused-by-writes",
        find: " and not exists (select 1 from mine where not (${fits}))",
        put: "",
        why: "A refusal waits for no lock and writes nothing."
      },
      {
        id: "limits-raced",
        find: "where ${fits}\n",
        put: "",
        why: "Calls that arrive together do not take more than the limit."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/migrate.ts",
    tests: ["packages/postgres/test/migrate.test.ts"],
    faults: [
      {
        id: "sql-migrate-edited",
        find: " and m.checksum = md5(it.text)",
        put: "",
        why: "A migration whose text was edited is not taken for one that ran."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/postgres/src/projects/activity.ts",
    tests: ["packages/postgres/test/stores/endpointUse.test.ts"],
    faults: [
      {
        id: "use-reported",
        find: "used_at = greatest(e.used_at, clock_timestamp() - held.idle_ms * interval '1 millisecond'),",
        put: "",
        why: "A report counts although an instance with a fast clock has started the compute."
      }
    ]
  },
  {
    area: "host",
    file: "packages/postgres/src/database/whyUnusable.ts",
    tests: ["packages/narthex/test/postgres.test.ts"],
    faults: [
      {
        id: "start-shows-password",
        find: 'const said = secret || text === "" ?',
        put: 'const said = text === "" ?',
        why: "What the server says is not passed on where it has the password."
      }
    ]
  }
]
