/**
 * Keeps a session's token fresh, once at a time (docs/design/identity.md I42).
 *
 * A page opens several requests at once, all with the same old cookie. They share one refresh, and late ones get its
 * result for a while: where superseded tokens are refused (`NARTHEX_SESSION_REUSE`), a second refresh would end the
 * session.
 *
 * Pitfall: remembering a late answer. It may not bring back the organization that the person has just left, so a switch
 * replaces what is remembered here.
 */
import { Cache, Clock, Context, Effect, Fiber, Layer, Semaphore } from "effect"
import { ClientCredential, type NarthexClient } from "@narthex/api"
import { type ApiFailure, calling } from "../api/ApiRefusal.ts"
import { type ConsoleSession, needsRefresh, sessionOf } from "./ConsoleSession.ts"

const rememberedSessions = 10_000
const rememberedFor = "15 minutes"

/** What this instance knows of a session: its newest token, and a lock for getting the next. */
interface Known {
  readonly lock: Semaphore.Semaphore
  newest: ConsoleSession | undefined
}

export class Sessions extends Context.Service<
  Sessions,
  {
    /** The session with a token that lasts a while; the same one when it does already. */
    readonly fresh: (session: ConsoleSession) => Effect.Effect<ConsoleSession, ApiFailure, NarthexClient>
    /** The session with a new token, whatever the old one says: a refresh also re-reads role and organization. */
    readonly renewed: (session: ConsoleSession) => Effect.Effect<ConsoleSession, ApiFailure, NarthexClient>
    /** From now on this is the session's newest token. */
    readonly remember: (session: ConsoleSession) => Effect.Effect<void>
  }
>()("@narthex/console/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const known = yield* Cache.make({
        capacity: rememberedSessions,
        timeToLive: rememberedFor,
        lookup: (_id: string): Effect.Effect<Known> =>
          Effect.sync(() => ({ lock: Semaphore.makeUnsafe(1), newest: undefined }))
      })

      /** In a fiber of its own: it runs to its end even when the request that asked is gone, for others wait for it. */
      const refresh = (session: ConsoleSession, isStale: (newest: ConsoleSession, now: number) => boolean) =>
        Effect.gen(function* () {
          const mine = yield* Cache.get(known, session.id)
          return yield* mine.lock.withPermit(
            Effect.gen(function* () {
              const now = yield* Clock.currentTimeMillis
              const { newest } = mine
              if (newest !== undefined && !isStale(newest, now)) return newest
              const from = newest ?? session
              const answer = yield* calling((api) => api.auth.refresh({})).pipe(
                Effect.provideService(ClientCredential, from.access_token)
              )
              const next = sessionOf(session.id, answer, yield* Clock.currentTimeMillis)
              mine.newest = next
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
          Effect.map(Cache.get(known, session.id), (mine) => {
            mine.newest = session
          })
      })
    })
  )
}
