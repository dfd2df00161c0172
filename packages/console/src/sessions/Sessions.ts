/**
 * Refreshes the tokens of sessions, one refresh at a time for each session (docs/design/console.md W9).
 *
 * A page opens several requests at once, all with the same old cookie. They share one refresh, and requests that arrive
 * later get its result: where superseded tokens are refused (`NARTHEX_SESSION_REUSE`), a second refresh would end the
 * session.
 *
 * Pitfall: keeping the remembered token across a switch of organization. It would bring back the organization that the
 * person has just left, so a switch replaces the token remembered here.
 */
import { ClientCredential, type NarthexClient } from "@narthex/api"
import { Cache, Clock, Context, Effect, Fiber, Layer, Semaphore } from "effect"
import { type ApiFailure, calling } from "../api/ApiRefusal.ts"
import { type ConsoleSession, needsRefresh, sessionOf } from "./ConsoleSession.ts"

const rememberedSessions = 10_000
const rememberedFor = "15 minutes"

/** What this instance remembers of a session: its newest token, and the lock under which the next is fetched. */
interface Entry {
  readonly lock: Semaphore.Semaphore
  newest: ConsoleSession | undefined
}

export class Sessions extends Context.Service<
  Sessions,
  {
    /** The session itself, or refreshed when its token is about to expire. */
    readonly fresh: (session: ConsoleSession) => Effect.Effect<ConsoleSession, ApiFailure, NarthexClient>
    /**
     * The session with a new token, even if the old one has not expired: a refresh also reads the organization again.
     */
    readonly renewed: (session: ConsoleSession) => Effect.Effect<ConsoleSession, ApiFailure, NarthexClient>
    /** Makes this the session's newest token. */
    readonly remember: (session: ConsoleSession) => Effect.Effect<void>
  }
>()("@narthex/console/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const entries = yield* Cache.make({
        capacity: rememberedSessions,
        timeToLive: rememberedFor,
        lookup: (_id: string): Effect.Effect<Entry> =>
          Effect.sync(() => ({ lock: Semaphore.makeUnsafe(1), newest: undefined }))
      })

      /**
       * Runs in a detached fiber: it completes even when the request that began it is interrupted, as others wait for
       * it.
       */
      const refresh = (session: ConsoleSession, isStale: (newest: ConsoleSession, now: number) => boolean) =>
        Effect.gen(function* () {
          const entry = yield* Cache.get(entries, session.id)
          return yield* entry.lock.withPermit(
            Effect.gen(function* () {
              const now = yield* Clock.currentTimeMillis
              const { newest } = entry
              if (newest !== undefined && !isStale(newest, now)) return newest
              const from = newest ?? session
              const answer = yield* calling((api) => api.auth.refresh({})).pipe(
                Effect.provideService(ClientCredential, from.access_token)
              )
              const next = sessionOf(session.id, answer, yield* Clock.currentTimeMillis)
              entry.newest = next
              return next
            })
          )
        }).pipe(Effect.forkDetach, Effect.flatMap(Fiber.join))

      return Sessions.of({
        fresh: (session) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            needsRefresh(session, now) ? refresh(session, needsRefresh) : Effect.succeed(session)
          ),
        renewed: (session) => refresh(session, (newest) => newest.issued_at <= session.issued_at),
        remember: (session) =>
          Effect.map(Cache.get(entries, session.id), (entry) => {
            entry.newest = session
          })
      })
    })
  )
}
