// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** The event log on Postgres. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const postgresEvents: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/postgres/src/PostgresTransaction.ts",
    tests: ["packages/postgres/test/events/turnedAway.test.ts"],
    faults: [
      {
        id: "pg-turned-away",
        find: "drain(2 * wait)",
        put: "Effect.void",
        why: "An instance that is turned away tries again."
      },
      {
        id: "pg-turned-away-pauses",
        find: "drain(2 * wait)",
        put: "drain(10 * wait)",
        why: "The tries go on for as long as a poll, with pauses that begin small."
      }
    ]
  },
  {
    area: "events",
    file: "packages/postgres/src/events/logHealth.ts",
    tests: ["packages/postgres/test/events/wakeups.test.ts"],
    faults: [
      {
        id: "pg-hears",
        find: 'hears = notice._tag === "Notified"',
        put: "hears = true",
        why: "Without notifications an instance tells its own readers of a commit."
      },
      {
        id: "pg-hears-twice",
        find: 'hears = notice._tag === "Notified"',
        put: "hears = false",
        why: "Where notifications arrive, a commit is read once."
      }
    ]
  },
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
        find: "select greatest(\n  (select trimmed_to from event_floor where org_id = $1), (select trimmed_to from event_head where one)) as id",
        put: "select (select trimmed_to from event_floor where org_id = $1) as id",
        why: "A change of the timeline concerns every organization."
      },
      {
        id: "sql-floor-own",
        find: "(select trimmed_to from event_floor where org_id = $1), ",
        put: "",
        why: "What was trimmed of an organization counts as trimmed."
      },
      {
        id: "sql-window-newest",
        find: "and id > ${afterFloor} order by id desc limit $2) newest",
        put: "and id > ${afterFloor} order by id limit $2) newest",
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
        id: "sql-between-upper",
        find: "and id > $2 and id <= $3) as has",
        put: "and id > $2 and id < $3) as has",
        why: "The upper end of a range belongs to it."
      },
      {
        id: "sql-between-lower",
        find: "and id > $2 and id <= $3) as has",
        put: "and id >= $2 and id <= $3) as has",
        why: "The lower end of a range does not belong to it."
      },
      {
        id: "sql-between-trimmed",
        find: "(floor.id > $2 and $3::uuid > $2) is true\n  or exists",
        put: "exists",
        why: "Trimmed events count as there."
      },
      {
        id: "sql-history-after",
        find: "id > greatest($2, floor.id) order by id limit $3",
        put: "id >= greatest($2, floor.id) order by id limit $3",
        why: "A page begins behind its position."
      },
      {
        id: "sql-trim-keep",
        find: "order by id desc offset $2 limit 1",
        put: "order by id desc limit 1",
        why: "Trimming keeps the newest events of each organization."
      },
      {
        id: "sql-trim-before",
        find: "at >= $1 order by id limit 1",
        put: "at >= $1 order by id desc limit 1",
        why: "Trimming stops before the first event that is not old."
      },
      {
        id: "sql-trim-floor",
        find: "on conflict (org_id) do update set trimmed_to = greatest(floor.trimmed_to, excluded.trimmed_to)",
        put: "on conflict (org_id) do nothing",
        why: "Each trimming raises the organization's floor."
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
        id: "pg-log-tail",
        find: "where pos > $1 order by pos limit $2",
        put: "where pos >= $1 order by pos limit $2",
        why: "The tail begins behind the position."
      },
      {
        id: "pg-log-window-cap",
        find: "? { events: found.slice(1), floor: Option.fromUndefinedOr(found[0]?.id) }",
        put: "? { events: found, floor: Option.fromUndefinedOr(found[0]?.id) }",
        why: "A window has at most as many events as asked for."
      },
      {
        id: "pg-log-history-limit",
        find: "events: events.slice(0, limit),",
        put: "events,",
        why: "A page has at most as many events as asked for."
      },
      {
        id: "pg-log-history-more",
        find: "more: events.length > limit",
        put: "more: events.length >= limit",
        why: "A page that holds the rest says that there is no more."
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
    file: "packages/postgres/src/migrations/0006_sequence_by_key.ts",
    tests: ["packages/postgres/test/eventSequence.test.ts", "packages/postgres/test/stores/EventLog.test.ts"],
    faults: [
      {
        id: "sequence-exclusion",
        find: "where one for update skip locked;",
        put: "where one;",
        why: "One instance sequences at a time."
      },
      {
        id: "sequence-wait",
        find: "where one for update skip locked;",
        put: "where one for update;",
        why: "An instance that sequences makes no other wait."
      },
      {
        id: "sequence-clock",
        find: "if v_ms > h.ms then",
        put: "if v_ms <> h.ms then",
        why: "Ids rise although the clock goes back."
      },
      {
        id: "sequence-counter",
        find: "    v_c := h.c32;\n",
        put: "    v_c := 0;\n",
        why: "Ids of one millisecond rise from one batch to the next."
      },
      {
        id: "sequence-order",
        find: "array(select seq from event_outbox order by seq limit p_limit)",
        put: "array(select seq from event_outbox order by seq desc limit p_limit)",
        why: "The oldest events are sequenced first."
      },
      {
        id: "sequence-pos",
        find: "select h.pos + rn, event_id",
        put: "select h.pos + rn - 1, event_id",
        why: "Positions are dense and rise."
      },
      {
        id: "sequence-remember",
        find: "set pos = h.pos + n, ms = v_ms, r40 = v_r, c32 = v_c + n,",
        put: "set pos = h.pos + n, ms = v_ms, r40 = v_r, c32 = v_c,",
        why: "The head remembers the last id."
      },
      {
        id: "sequence-timeline",
        find: "if v_timeline <> h.timeline then v_trimmed := event_id(v_ms, v_r, v_c); end if;",
        put: "",
        why: "After a failover clients from before it learn of a gap."
      }
    ]
  }
]
