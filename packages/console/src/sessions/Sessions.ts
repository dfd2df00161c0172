/**
 * Refreshes the tokens of sessions, one refresh at a time for each session (docs/design/console.md W9).
 *
 * A page opens several requests at once, all with the same old cookie. They share one refresh, and requests that arrive
 * later get its result: where superseded tokens are refused (`NARTHEX_SESSION_REUSE`), a second refresh would end the
 * session.
 *
 * A switch of organization and a refresh exclude each other, and a switch replaces the token remembered here. Otherwise a
 * refresh would bring back the organization that the person has just left.
 */
import {
  ClientCredential,
  makeSessionKeeper,
  type NarthexClient,
  type SessionAnswer,
  type SessionKeeper
} from "@narthex/api"
import { Cache, Clock, Context, Effect, Layer } from "effect"
import { type ApiFailure, calling } from "../api/ApiRefusal.ts"
import { type ConsoleSession, needsRefresh, sessionOf } from "./ConsoleSession.ts"

const rememberedSessions = 10_000
const rememberedFor = "15 minutes"

type Keeper = SessionKeeper<ConsoleSession, ApiFailure, NarthexClient>

const keptAs = (id: string, answer: SessionAnswer) =>
  Effect.map(Clock.currentTimeMillis, (now) => sessionOf(id, answer, now))

const keeperOf = (id: string): Keeper =>
  makeSessionKeeper({
    refresh: ({ access_token }: ConsoleSession) =>
      calling((api) => api.auth.refresh({})).pipe(
        Effect.provideService(ClientCredential, access_token),
        Effect.flatMap((answer) => keptAs(id, answer))
      )
  })

export class Sessions extends Context.Service<
  Sessions,
  {
    /** The session itself, or refreshed when its token is about to expire. */
    readonly fresh: (session: ConsoleSession) => Effect.Effect<ConsoleSession, ApiFailure, NarthexClient>
    /**
     * The session with a new token, even if the old one has not expired: a refresh also reads the organization again.
     */
    readonly renewed: (session: ConsoleSession) => Effect.Effect<ConsoleSession, ApiFailure, NarthexClient>
    /** Runs a call whose answer is the session in another organization, and keeps that as its newest token. */
    readonly switched: <E, R>(
      session: ConsoleSession,
      call: Effect.Effect<SessionAnswer, E, R>
    ) => Effect.Effect<{ readonly answer: SessionAnswer; readonly next: ConsoleSession }, E, R>
  }
>()("@narthex/console/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const keepers = yield* Cache.make({
        capacity: rememberedSessions,
        timeToLive: rememberedFor,
        lookup: (id: string): Effect.Effect<Keeper> => Effect.sync(() => keeperOf(id))
      })
      const renewed = (session: ConsoleSession, isStale: (newest: ConsoleSession) => boolean) =>
        Effect.flatMap(Cache.get(keepers, session.id), (keeper) => keeper.renewed(session, isStale))

      return Sessions.of({
        fresh: (session) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            needsRefresh(session, now)
              ? renewed(session, (newest) => needsRefresh(newest, now))
              : Effect.succeed(session)
          ),
        renewed: (session) => renewed(session, (newest) => newest.issued_at <= session.issued_at),
        switched: Effect.fnUntraced(function* (session, call) {
          const keeper = yield* Cache.get(keepers, session.id)
          const change = Effect.flatMap(call, (answer) =>
            Effect.map(keptAs(session.id, answer), (next) => ({ answer, next }))
          )
          return yield* keeper.adopting(change, ({ next }) => next)
        })
      })
    })
  )
}
