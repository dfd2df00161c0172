/**
 * Attacks from database sessions: locks, slots, CPU, memory, temporary files, notifications, results that are not read.
 *
 * Effective are the outcomes of sessions whose statement ran: one that was refused a place (53300), was too slow to
 * authenticate (08006) or was ended (57P01) has not attacked.
 */
import { openSession, sqlstate } from "../Session.ts"
import { type Attack, hold, otherOf, pause, session } from "./Attack.ts"

/** An open change of the session's own role: an `ALTER ROLE` of the supervisor waits for it. */
export const lockOwnRole = [
  "begin read write", // a session of a read-only credential begins read-only
  "set local role none",
  "do $$ begin execute format('alter role %I password ''x''', session_user); end $$"
]

/** Refuses to end for anything that a statement can catch. */
export const loopForEver =
  "do $$ begin loop begin perform pg_sleep(0.01); exception when query_canceled or others then null; end; end loop; end $$"

export const giantResult = "select repeat('x', 10000) from generate_series(1, 20000)"

const computing = [
  "set statement_timeout = '5s'",
  "select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b"
]

export const sessions: ReadonlyArray<Attack> = [
  {
    name: "sessions that lock their role",
    lanes: 4,
    effective: ["held"],
    turn: session(({ uris }) => uris.locks, "127.0.1.2", lockOwnRole)
  },
  {
    name: "read-only sessions that lock their role",
    lanes: 2,
    effective: ["held"],
    turn: session((means) => means.read_only_uri, "127.0.1.2", lockOwnRole)
  },
  {
    name: "sleeping transactions",
    lanes: 6,
    effective: ["held", "55P03"],
    turn: session(({ uris }) => uris.locks, "127.0.1.3", [
      "begin",
      "create table if not exists held (n int)",
      "set local lock_timeout = '5s'",
      "lock table held in access exclusive mode"
    ])
  },
  {
    name: "full connection slots",
    lanes: 120,
    // The attack aims at the state without a free place.
    effective: ["held", "53300"],
    turn: session(({ uris }) => uris.slots, "127.0.1.4", ["select 1"])
  },
  {
    name: "sessions that are opened and closed without a pause",
    lanes: 16,
    effective: ["opened"],
    turn: async (means, lane, _round, stopped) => {
      try {
        const opened = await openSession(otherOf(means, lane).uri, "127.0.1.10")
        opened.close()
        return "opened"
      } catch (error) {
        await pause(200, stopped)
        return sqlstate(error) ?? "closed"
      }
    }
  },
  {
    name: "statements that only compute",
    lanes: 8,
    effective: ["57014"],
    turn: session(({ uris }) => uris.work, "127.0.1.6", computing)
  },
  {
    name: "statements that only compute, in other organizations",
    lanes: 8,
    effective: ["57014"],
    turn: session((means, lane) => otherOf(means, lane).uri, "127.0.1.8", computing)
  },
  {
    name: "sorts in memory",
    lanes: 2,
    effective: ["held", "57014"],
    turn: session(({ uris }) => uris.work, "127.0.1.7", [
      "set statement_timeout = '5s'",
      "set work_mem = '256MB'",
      "select count(*) from (select repeat('x', 100) || n from generate_series(1, 1000000) n order by 1) sorted"
    ])
  },
  {
    name: "notifications that an open transaction holds up",
    lanes: 2,
    // 54000: the queue is full.
    effective: ["held", "54000"],
    turn: async ({ uris }, _lane, _round, stopped) => {
      try {
        const [deaf, loud] = [await openSession(uris.work, "127.0.1.9"), await openSession(uris.work, "127.0.1.9")]
        try {
          for (const statement of ["listen flood", "begin", "select 1"]) await deaf.query(statement)
          const end = performance.now() + hold
          do {
            await loud.query("select pg_notify('flood', repeat('x', 7900) || n) from generate_series(1, 1000) n")
            await pause(200, stopped)
          } while (!stopped.aborted && performance.now() < end)
          return "held"
        } finally {
          deaf.close()
          loud.close()
        }
      } catch (error) {
        await pause(200, stopped)
        return sqlstate(error) ?? "closed"
      }
    }
  },
  {
    name: "sorts on disk",
    lanes: 2,
    effective: ["held", "53400", "57014"],
    turn: session(({ uris }) => uris.work, "127.0.1.7", [
      "set statement_timeout = '5s'",
      "select count(*) from (select repeat('x', 500) || n from generate_series(1, 3000000) n order by 1) sorted"
    ])
  },
  {
    name: "giant results",
    lanes: 2,
    effective: ["read"],
    turn: async ({ uris }, _lane, _round, stopped) => {
      try {
        const reader = await openSession(uris.work, "127.0.1.5")
        try {
          // As many parts as can be read in the time for which other attacks hold a session, and at least one.
          const end = performance.now() + hold
          do await reader.query("select repeat('x', 10000) from generate_series(1, 500)")
          while (!stopped.aborted && performance.now() < end)
          return "read"
        } finally {
          reader.close()
        }
      } catch (error) {
        await pause(200, stopped)
        return sqlstate(error) ?? "closed"
      }
    }
  },
  {
    name: "giant results that are not read",
    lanes: 10,
    effective: ["held"],
    turn: async ({ uris }, _lane, _round, stopped) => {
      try {
        const deaf = await openSession(uris.work, "127.0.1.5")
        try {
          deaf.query(giantResult).catch(() => undefined) // It ends with the session.
          deaf.socket.pause()
          await pause(hold, stopped)
          return "held"
        } finally {
          deaf.close()
        }
      } catch (error) {
        await pause(200, stopped)
        return sqlstate(error) ?? "closed"
      }
    }
  }
]
