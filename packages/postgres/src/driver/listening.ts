/**
 * Notifications of one channel over a connection of its own, subscribed again whenever that connection is lost.
 *
 * A lost connection need not show: with a half-open socket nothing ever arrives. So a statement goes out now and
 * then, and a server that does not answer it counts as lost.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { Effect, type Scope, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"

const pulse = "20 seconds"
const patience = "10 seconds"
const pause = "200 millis"

export const listening = (
  connect: Effect.Effect<PgConnection, SqlError, Scope.Scope>,
  channel: string
): Stream.Stream<string> => {
  const subscription = Effect.gen(function* () {
    // Pinned once for both: LISTEN holds the session, and the pulse must get through beside it.
    const session = yield* Effect.flatMap(connect, (connection) => connection.pin)
    const notifications = yield* session.listen(channel)
    const alive = Effect.forever(Effect.delay(Effect.timeout(session.query("select 1"), patience), pulse))
    return Stream.fromQueue(notifications).pipe(
      Stream.map((notification) => notification.payload),
      Stream.merge(Stream.fromEffectDrain(alive)),
      (payloads) => Stream.concat(Stream.succeed(""), payloads)
    )
  })
  const lost = (cause: unknown) =>
    Stream.fromEffectDrain(
      Effect.logWarning(`Not listening on ${channel}.`, cause).pipe(Effect.andThen(Effect.sleep(pause)))
    )
  return Stream.unwrap(subscription).pipe(Stream.catch(lost), Stream.forever)
}
