/**
 * An attack: loops that run until they are stopped, each turn of which resolves with its outcome. Outcomes are counted;
 * the test requires that each attack had some of its effective ones.
 */
import { type Caller, call } from "../Caller.ts"
import { openSession, sqlstate } from "../Session.ts"

/** The means of the attackers. Their process gets them as JSON. */
export interface Means {
  /** The share of their lanes that run: from 0 to 1, at least one lane of each attack. */
  readonly effort: number
  readonly tenant: Caller
  readonly agent: Caller
  readonly org: string
  readonly project: string
  readonly branch: string
  readonly endpoint: string
  /** Read-write credentials of other projects of the tenant, whose computes it does not suspend. */
  readonly uris: { readonly locks: string; readonly slots: string; readonly work: string }
  /** Further organizations of the same person; at least one. */
  readonly others: ReadonlyArray<Other>
  /** A read-only credential of the branch of `uris.locks`. */
  readonly read_only_uri: string
  /** An endpoint of the bystander; ids of endpoints are not secret. */
  readonly victim: { readonly uri: string; readonly endpoint: string }
  readonly stranger: Caller
}

export interface Other {
  readonly tenant: Caller
  readonly project: string
  readonly endpoint: string
  /** A read-write credential of another project, whose compute is not suspended. */
  readonly uri: string
}

export interface Attack {
  readonly name: string
  /** How many loops of it run at once. */
  readonly lanes: number
  /** Outcomes of turns that did what the attack is about. */
  readonly effective: ReadonlyArray<string>
  readonly turn: (means: Means, lane: number, round: number, stopped: AbortSignal) => Promise<string>
}

/** Milliseconds that a held resource is held. */
export const hold = 5_000

/** Milliseconds between two attempts of which the first was refused. Without it the client would be the bottleneck. */
const refusalPause = 50

export const pause = (milliseconds: number, stopped: AbortSignal): Promise<void> =>
  new Promise((done) => {
    const end = () => {
      clearTimeout(timer)
      stopped.removeEventListener("abort", end)
      done()
    }
    const timer = setTimeout(end, milliseconds)
    stopped.addEventListener("abort", end)
    if (stopped.aborted) end()
  })

/** A POST, and its status. */
export const post = async (caller: Caller, path: string, body: unknown, stopped: AbortSignal): Promise<string> => {
  const answer = await call(caller, "POST", path, body)
  if (answer.status >= 400 || answer.status === 0) await pause(refusalPause, stopped)
  return answer.status === 0 ? String(answer.body["cause"]) : String(answer.status)
}

/** The organization of a lane. */
export const otherOf = ({ others }: Means, lane: number): Other => {
  const other = others[lane % others.length]
  if (other === undefined) throw new Error("The attackers have no further organization.")
  return other
}

/** Opens a session, runs the statements, and holds it: `held`, or the SQLSTATE that ended it. */
export const session =
  (uri: (means: Means, lane: number) => string, from: string, statements: ReadonlyArray<string>): Attack["turn"] =>
  async (means, lane, _round, stopped) => {
    try {
      const held = await openSession(uri(means, lane), from)
      const close = () => held.close()
      stopped.addEventListener("abort", close)
      try {
        for (const statement of statements) await held.query(statement)
        await pause(hold, stopped)
        return "held"
      } finally {
        stopped.removeEventListener("abort", close)
        close()
      }
    } catch (error) {
      await pause(200, stopped)
      return sqlstate(error) ?? "closed"
    }
  }
