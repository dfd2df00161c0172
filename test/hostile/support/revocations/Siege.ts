/** Sessions of one credential that make it as hard as they can to take it away, and logins that go on beside them. */
import { setTimeout as sleep } from "node:timers/promises"
import { giantResult, lockOwnRole, loopForEver } from "../attacks/sessions.ts"
import { eventuallyOpen, login, type Session, sqlstate } from "../Session.ts"

/** Statements before which a session goes on, each a way to resist. The last one of `loop` and of `deaf` never ends. */
const waysToResist: Readonly<Record<string, ReadonlyArray<string>>> = {
  lock: lockOwnRole,
  loop: ["set statement_timeout = 0", loopForEver],
  deaf: [giantResult],
  table: [
    "set idle_in_transaction_session_timeout = 0",
    "begin",
    "create table if not exists clung (n int)",
    "lock table clung in access exclusive mode"
  ],
  temporary: [
    "create temp table mine (n int)",
    "begin",
    "declare c cursor with hold for select 1",
    "insert into mine values (1)"
  ],
  prepared: ["begin", "create table if not exists left_over (n int)", "prepare transaction 'kept'"],
  advisory: ["select pg_advisory_lock(1)", "begin", "select pg_export_snapshot()"]
}

/** How many sessions a siege has. */
export interface Numbers {
  /** Idle sessions, in addition to those that resist. */
  readonly crowd?: number
  /** The most sessions that resist; left out: one for each way. */
  readonly most?: number
}

export class Siege {
  readonly uri: string
  readonly from: string
  readonly #sessions: ReadonlyArray<Session>
  readonly #stop = new AbortController()

  private constructor(uri: string, from: string, sessions: ReadonlyArray<Session>) {
    this.uri = uri
    this.from = from
    this.#sessions = sessions
    for (let loop = 0; loop < 2; loop++) this.#knock()
  }

  /**
   * Opens a session for each way to resist, at most `most`, and `crowd` idle ones; all are open when it resolves. The seed
   * of the run chooses the ways.
   */
  static async lay(uri: string, from: string, { crowd = 0, most = 10 }: Numbers): Promise<Siege> {
    const ways = Object.entries(waysToResist)
    const first = Math.floor(Math.random() * ways.length)
    const chosen = [...ways.slice(first), ...ways.slice(0, first)].slice(0, most)
    const resisting = chosen.map(async ([way, statements]) => {
      const session = await eventuallyOpen(uri, from)
      const endless = way === "loop" || way === "deaf" ? statements.slice(-1) : []
      // A read-only role may not make tables; it resists with what it has.
      for (const statement of statements.slice(0, statements.length - endless.length))
        await session.query(statement).catch((error: unknown) => {
          if (sqlstate(error) === undefined) throw error
        })
      for (const statement of endless) session.query(statement).catch(() => undefined) // It ends with the session.
      if (way === "deaf") session.socket.pause()
      return session
    })
    const idle = Array.from({ length: crowd }, () => eventuallyOpen(uri, from))
    return new Siege(uri, from, await Promise.all([...resisting, ...idle]))
  }

  get size() {
    return this.#sessions.length
  }

  /** Whether every session was ended by the other side. */
  haveEnded(): boolean {
    // A socket that is not read does not notice its end.
    for (const { socket } of this.#sessions) socket.resume()
    return this.#sessions.every((session) => session.hasEnded())
  }

  lift() {
    this.#stop.abort()
    for (const session of this.#sessions) session.close()
  }

  /** Logs in again and again, to slip in at the moment of the change. */
  async #knock() {
    while (!this.#stop.signal.aborted) {
      await login(this.uri, this.from)
      await sleep(20)
    }
  }
}
