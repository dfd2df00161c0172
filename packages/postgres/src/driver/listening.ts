/**
 * Notifications of one channel over a connection of its own, subscribed again whenever that connection is lost.
 *
 * A lost connection need not show: with a half-open socket nothing ever arrives. So a statement goes out now and then,
 * and a server that does not answer it counts as lost.
 *
 * Pitfall: reporting the loss after cleaning up. A statement that gets no answer takes seconds to give up.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { type Duration, Effect, Fiber, type Scope, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** What a channel has to say. */
export type Notice =
  /** Notifications arrive from here on. Some may have been missed: read what they stand for. */
  | { readonly _tag: "Subscribed" }
  | { readonly _tag: "Notified"; readonly payload: string }
  /** Nothing arrives until subscribed again. */
  | { readonly _tag: "Lost" }

export interface Pulse {
  readonly every: Duration.Input
  /** For the answer, and for whatever else the server has to say. */
  readonly patience: Duration.Input
}

const usual: Pulse = { every: "20 seconds", patience: "10 seconds" }
const pause = "200 millis"

const said = (notice: Notice): Stream.Stream<Notice> => Stream.succeed(notice)

export const listening = (
  connect: Effect.Effect<PgConnection, SqlError, Scope.Scope>,
  channel: string,
  { every, patience }: Pulse = usual
): Stream.Stream<Notice> => {
  const lost = (cause: unknown) =>
    Stream.concat(
      said({ _tag: "Lost" }),
      Stream.fromEffectDrain(
        Effect.logWarning(`Not listening on ${channel}.`, cause).pipe(Effect.andThen(Effect.sleep(pause)))
      )
    )
  const subscription = Effect.gen(function* () {
    // Pinned once for both: LISTEN holds the session, and the pulse must get through beside it.
    const session = yield* Effect.flatMap(connect, (connection) => connection.pin)
    const notifications = yield* Effect.timeout(session.listen(channel), patience)
    const scope = yield* Effect.scope
    const beat = Effect.gen(function* () {
      const answer = yield* Effect.forkIn(session.query("select 1"), scope)
      yield* Effect.timeout(Fiber.join(answer), patience)
    })
    return Stream.fromQueue(notifications).pipe(
      Stream.map(({ payload }): Notice => ({ _tag: "Notified", payload })),
      Stream.merge(Stream.fromEffectDrain(Effect.forever(Effect.delay(beat, every)))),
      (notified) => Stream.concat(said({ _tag: "Subscribed" }), notified),
      // Here, within the connection's scope, so that it is told before that is closed.
      Stream.catch(lost)
    )
  })
  return Stream.unwrap(subscription).pipe(
    Stream.catch(lost),
    Stream.forever,
    // Each attempt that fails would say so again.
    Stream.changesWith((before, now) => before._tag === "Lost" && now._tag === "Lost")
  )
}
