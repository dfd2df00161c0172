// biome-ignore-all lint/suspicious/noTemplateCurlyInString: faults quote templates
/** The event log and the transactions of hosts, as Postgres executes them. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const log: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/postgres/src/events/eventQueries.ts",
    tests: [
      "packages/postgres/test/stores/edges.test.ts",
      "packages/postgres/test/stores/EventLog.test.ts",
      "packages/postgres/test/stores/eventFloors.test.ts"
    ],
    faults: [
      {
        id: "sql-floor",
        find: "select greatest(\n  (select trimmed_to from narthex.event_floor where org_id = $1), (select trimmed_to from narthex.event_head where one)) as id",
        put: "select (select trimmed_to from narthex.event_floor where org_id = $1) as id",
        why: "A change of the timeline concerns every organization."
      },
      {
        id: "sql-window-newest",
        find: "and id > ${afterFloor} order by id desc limit $2)",
        put: "and id > ${afterFloor} order by id limit $2)",
        why: "A window holds the newest events."
      },
      {
        id: "sql-visible-internal",
        find: "org_id = $1 and not internal ${project",
        put: "org_id = $1 ${project",
        why: "Internal events are not in the history."
      },
      {
        id: "sql-visible-project",
        find: "and project_id = $${parameter}",
        put: "and project_id is not null",
        why: "A project's history has that project's events."
      },
      {
        id: "sql-between-trimmed",
        find: "(floor.id > $2 and $3::uuid > $2) is true\n  or exists",
        put: "exists",
        why: "Trimmed events count as there."
      },
      {
        id: "sql-trim-before",
        find: "at >= $1 order by id limit 1",
        put: "at >= $1 order by id desc limit 1",
        why: "Trimming stops before the first event that is not old."
      },
      {
        id: "sql-trim-newest-floor",
        find: "select distinct on (org_id) org_id, id from gone order by org_id, id desc",
        put: "select distinct on (org_id) org_id, id from gone order by org_id, id",
        why: "The floor is the newest event that went."
      }
    ]
  },
  {
    area: "events",
    file: "packages/postgres/src/events/PostgresEventLog.ts",
    tests: [
      "packages/postgres/test/stores/edges.test.ts",
      "packages/postgres/test/stores/EventLog.test.ts",
      "packages/postgres/test/eventSequence.test.ts"
    ],
    faults: [
      {
        id: "pg-log-order",
        find: "           order by it.n`",
        put: "           order by it.n desc`",
        why: "Events of a commit keep their order."
      },
      {
        id: "pg-log-complete",
        find: "(id) => after < id)",
        put: "(id) => after <= id)",
        why: "A history after the newest trimmed event is complete."
      }
    ]
  },
  {
    area: "events",
    file: "packages/postgres/src/migrations/0008_events.ts",
    tests: ["packages/postgres/test/eventSequence.test.ts", "packages/postgres/test/stores/EventLog.test.ts"],
    faults: [
      {
        id: "sequence-exclusion",
        find: "where one for update skip locked;",
        put: "where one;",
        why: "One instance sequences at a time."
      },
      {
        id: "sequence-clock",
        find: "if v_ms > h.ms then",
        put: "if v_ms <> h.ms then",
        why: "Ids rise although the clock goes back."
      },
      {
        id: "sequence-order",
        find: "array(select seq from event_outbox order by seq limit p_limit)",
        put: "array(select seq from event_outbox order by seq desc limit p_limit)",
        why: "The oldest events are sequenced first."
      },
      {
        id: "sequence-timeline",
        find: "if v_timeline <> h.timeline then v_trimmed := event_id(v_ms, v_r, v_c); end if;",
        put: "",
        why: "After a failover clients from before it learn of a gap."
      }
    ]
  },
  {
    area: "host",
    file: "packages/postgres/src/migrations/0008_events.ts",
    tests: ["packages/postgres/test/host/hostTransaction.test.ts", "packages/postgres/test/host/refusals.test.ts"],
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
    file: "packages/postgres/src/host/joining.ts",
    tests: ["packages/postgres/test/host/hostTransaction.test.ts", "packages/postgres/test/host/refusals.test.ts"],
    faults: [
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
    area: "credentials",
    file: "packages/postgres/src/migrations/0006_sessions.ts",
    tests: ["packages/postgres/test/stores/hostSessionEnds.test.ts"],
    faults: [
      {
        id: "host-session-ended-by-older",
        find: "interval '400 days'",
        put: "interval '1 day'",
        why: "The id of a host's own session begins no other for 400 days, whichever release ends it."
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
  }
]
