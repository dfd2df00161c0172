/**
 * The sessions of clients that speak a version of MCP with sessions. A session has no rights: each request has its key.
 *
 * Pitfall: keeping every session. A client that never ends one would fill the memory, so a key has a number of places, and
 * a new session takes that of the one that was used least recently.
 */

interface Session {
  readonly id: string
  used: number
}

/** Sessions of one key. */
const mostOfKey = 16
/** Sessions of all keys. */
const mostOfAll = 4_000

export class HttpSessions {
  readonly #owners = new Map<string, string>()
  readonly #sessions = new Map<string, Map<string, Session>>()
  #uses = 0

  /** Whether the session is one of this key; it counts as used. */
  uses(owner: string, id: string): boolean {
    const session = this.#sessions.get(owner)?.get(id)
    if (session === undefined) return false
    session.used = ++this.#uses
    return true
  }

  /** Adds a session, and returns those that have to end for it. */
  begin(owner: string, id: string): ReadonlyArray<string> {
    const own = this.#sessions.get(owner) ?? new Map<string, Session>()
    this.#sessions.set(owner, own)
    own.set(id, { id, used: ++this.#uses })
    this.#owners.set(id, owner)
    const ended = [
      ...(own.size > mostOfKey ? [leastUsed(own.values())] : []),
      ...(this.#owners.size > mostOfAll ? [leastUsed(this.#all())] : [])
    ].flatMap((session) => (session === undefined ? [] : [session.id]))
    for (const gone of ended) this.end(gone)
    return ended
  }

  end(id: string): void {
    const owner = this.#owners.get(id)
    if (owner === undefined) return
    this.#owners.delete(id)
    const own = this.#sessions.get(owner)
    own?.delete(id)
    if (own?.size === 0) this.#sessions.delete(owner)
  }

  *#all(): Iterable<Session> {
    for (const own of this.#sessions.values()) yield* own.values()
  }
}

const leastUsed = (sessions: Iterable<Session>): Session | undefined =>
  [...sessions].reduce<Session | undefined>(
    (least, session) => (least === undefined || session.used < least.used ? session : least),
    undefined
  )
