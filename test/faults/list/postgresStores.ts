// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** Migrations, operations and allowlists on Postgres. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const postgresStores: ReadonlyArray<FaultsOfFile> = [
  {
    area: "quotas",
    file: "packages/postgres/src/driver/takingTurns.ts",
    tests: ["packages/postgres/test/driver/takingTurns.test.ts"],
    faults: [
      {
        id: "turns-platform",
        find: "connections - Math.ceil(connections / 5)",
        put: "connections",
        why: "The platform's own work finds connections that requesters do not use."
      },
      {
        id: "turns-given",
        find: "Effect.sync(() => turns.give(requester))\n        )",
        put: "Effect.void\n        )",
        why: "A place is given back, however the work ends."
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
      },
      {
        id: "sql-migrate-each",
        find: "migrations.filter(([name]) => !done.has(name))",
        put: "migrations.slice(done.size)",
        why: "Each migration that is not recorded runs, also before recorded ones."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/postgres/src/operations/PostgresOperationStore.ts",
    tests: ["packages/postgres/test/stores/order.test.ts", "packages/postgres/test/stores/OperationStore.test.ts"],
    faults: [
      {
        id: "pg-operation-person",
        find: "select organization_person($1) as person",
        put: "select $1::text as person",
        why: "The organizations of a person count for that person on the machines too."
      },
      {
        id: "pg-operation-filter",
        find: "Object.entries({ action, branch_id, endpoint_id, status })",
        put: "Object.entries({ action, branch_id, endpoint_id })",
        why: "A list has only the operations that fit every member of its filter."
      },
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
        id: "pg-claim-idle",
        find: "set_config('idle_in_transaction_session_timeout', $7, coalesce(due.any, true))",
        put: "coalesce($7, '')",
        why: "A process that stops after a claim keeps the claims of others only for seconds.",
        tests: ["packages/postgres/test/stores/claimLocks.test.ts"]
      },
      {
        id: "pg-claim-waits-for-nothing",
        find: "select exists (select from operation_head where class = $1 and due_at <= $3) as any",
        put: "select $1 is not null and $3::timestamptz is not null as any",
        why: "A claim that finds nothing due does not wait for the other claims of the class.",
        tests: ["packages/postgres/test/stores/claimLocks.test.ts"]
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
        find: "(newestFirst) => newestFirst.toReversed()",
        put: "(newestFirst) => newestFirst",
        why: "Unfinished operations are listed oldest first."
      },
      {
        id: "pg-lock",
        find: 'where id = $1 for update"',
        put: 'where id = $1"',
        why: "A locked operation keeps other transactions waiting."
      },
      {
        id: "pg-insert-turns",
        find: "select pg_advisory_xact_lock(hashtextextended($2, 0))::text as held",
        put: "select $2 as held",
        why: "Operations of a branch are seen in the order of their commits."
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
        id: "pg-list-refusal",
        find: '            yield* query("IpAllowlistStore.change", undo, [project])\n',
        put: "",
        why: "A refused change leaves the version as it is."
      },
      {
        id: "pg-list-version-answer",
        find: "version: row?.version ?? 0",
        put: "version: 1",
        why: "A change answers the list's new version."
      },
      {
        id: "pg-list-put-order",
        find: ", position = default`",
        put: "`",
        why: "A replaced rule becomes the newest of the list."
      },
      {
        id: "pg-list-put-replaced",
        find: "do update set label = excluded.label,",
        put: "do update set label = ip_rule.label,",
        why: "A rule replaces one with an equal network."
      },
      {
        id: "pg-list-remove-project",
        find: "where project_id = $1 and cidr = any($2)",
        put: "where $1 <> '' and cidr = any($2)",
        why: "The rules of other lists stay."
      },
      {
        id: "pg-list-remove",
        find: "cidr = any($2)",
        put: "not (cidr = any($2))",
        why: "The rules of these networks are removed and no others."
      },
      {
        id: "pg-list-removed-first",
        find: "if (edit.removed.length > 0) {",
        put: "if (edit.removed.length > 0 && Option.isNone(edit.put)) {",
        why: "A change that puts a rule removes the lapsed ones, too."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/postgres/src/projects/activity.ts",
    tests: ["packages/postgres/test/stores/endpointUse.test.ts"],
    faults: [
      {
        id: "use-by-instance",
        find: "coalesce(e.used_at, e.last_active_at, e.started_at, e.updated_at)",
        put: "coalesce(e.last_active_at, e.started_at, e.updated_at)",
        why: "How long a compute has been unused is measured by the store's clock."
      },
      {
        id: "use-started-by-instance",
        find: "coalesce(e.ran_since, e.started_at)",
        put: "e.started_at",
        why: "How long ago a compute was started is measured by the store's clock."
      },
      {
        id: "use-reported",
        find: "used_at = greatest(e.used_at, clock_timestamp() - held.idle_ms * interval '1 millisecond'),",
        put: "",
        why: "A report counts although an instance with a fast clock has started the compute."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/postgres/src/migrations/0021_endpoint_use.ts",
    tests: ["packages/postgres/test/stores/endpointUse.test.ts"],
    faults: [
      {
        id: "use-of-older",
        find: "new.used_at := greatest(new.used_at, least(new.last_active_at, clock_timestamp()));",
        put: "",
        why: "A report counts that an instance of an earlier release has recorded."
      },
      {
        id: "use-undated",
        find: "new.ran_since := clock_timestamp();",
        put: "",
        why: "The store's clock dates the start of a compute."
      }
    ]
  }
]
