/**
 * The newest token of a session, for programs that share the session among calls (docs/design/client.md L16–L20, L33).
 *
 * 1. Calls that find the same token stale share one refresh.
 * 2. A refresh runs to its end, even when the call that began it is aborted: others wait for it, and its answer is the
 *    session's newest token.
 * 3. Refresh and switch exclude each other.
 *
 * Pitfall: a refresh during a switch of organization. Its answer could arrive after the switch and bring back the
 * organization that the person has left, so both hold one lock.
 */
import { Context, Effect, Fiber, Semaphore } from "effect"

export interface SessionKeeper<Session, Failure = never, Needs = never> {
  /** The newest that is known; `undefined`: none was given, and none fetched. */
  readonly newest: () => Session | undefined
  /**
   * The newest session, refreshed if it is stale: refused by the server, or about to expire. `presented` is refreshed
   * where none is known.
   */
  readonly renewed: (
    presented: Session,
    isStale: (newest: Session) => boolean
  ) => Effect.Effect<Session, Failure, Needs>
  /** Runs a call whose answer is a new session, and continues with it. `undefined`: the answer has no session. */
  readonly adopting: <A, E, R>(
    call: Effect.Effect<A, E, R>,
    sessionOf: (answer: A) => Session | undefined
  ) => Effect.Effect<A, E, R>
}

/** The lock that the running call holds already. Each keeper has its own lock. */
const HeldLock = Context.Reference<Semaphore.Semaphore | undefined>("@narthex/api/client/HeldLock", {
  defaultValue: () => undefined
})

/** `stored` runs after each new session. Calls wait for it. */
export const makeSessionKeeper = <Session, Failure, Needs>(options: {
  readonly first?: Session
  readonly refresh: (session: Session) => Effect.Effect<Session, Failure, Needs>
  readonly stored?: (session: Session) => Effect.Effect<void>
}): SessionKeeper<Session, Failure, Needs> => {
  const { refresh, stored = () => Effect.void } = options
  const lock = Semaphore.makeUnsafe(1)
  let newest = options.first

  const adopt = (session: Session) =>
    Effect.suspend(() => {
      newest = session
      return stored(session)
    })

  const refreshed = (presented: Session, isStale: (newest: Session) => boolean) =>
    Effect.gen(function* () {
      if (newest !== undefined && !isStale(newest)) return newest
      const session = yield* refresh(newest ?? presented)
      yield* adopt(session)
      return session
    })

  return {
    newest: () => newest,
    renewed: (presented, isStale) =>
      Effect.gen(function* () {
        const needed = refreshed(presented, isStale)
        const locked = (yield* HeldLock) === lock ? needed : lock.withPermit(needed)
        return yield* Effect.flatMap(Effect.forkDetach(locked), Fiber.join)
      }),
    adopting: (call, sessionOf) =>
      lock.withPermit(
        Effect.tap(Effect.provideService(call, HeldLock, lock), (answer) => {
          const session = sessionOf(answer)
          return session === undefined ? Effect.void : adopt(session)
        })
      )
  }
}
