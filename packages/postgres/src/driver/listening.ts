/**
 * Notifications of one channel over a dedicated connection, which is opened again whenever it is lost.
 *
 * A half-open socket shows no error and delivers nothing. So a statement is sent periodically, and a server that does
 * not answer it in time counts as lost.
 *
 * Pitfall: reporting the loss after closing the connection. A statement without an answer takes seconds to be given up.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { type Duration, Effect, Fiber, type Scope, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** An element of the stream of a channel. */
export type Notice =
  /** Notifications arrive from here on. Earlier ones may have been missed: read the state that they announce. */
  | { readonly _tag: "Subscribed" }
  | { readonly _tag: "Notified"; readonly payload: string }
  /** No notification arrives until the next `Subscribed`. */
  | { readonly _tag: "Lost" }

/** How a silent connection is checked. */
export interface KeepAlive {
  /** The time between two checks. */
  readonly interval: Duration.Input
  /** The deadline for the answer to LISTEN and to each check. */
  readonly timeout: Duration.Input
}

const defaults: KeepAlive = { interval: "20 seconds", timeout: "10 seconds" }
const reconnectDelay = "200 millis"

const emit = (notice: Notice): Stream.Stream<Notice> => Stream.succeed(notice)

export const listening = (
  connect: Effect.Effect<PgConnection, SqlError, Scope.Scope>,
  channel: string,
  { interval, timeout }: KeepAlive = defaults
): Stream.Stream<Notice> => {
  const lost = (cause: unknown) =>
    Stream.concat(
      emit({ _tag: "Lost" }),
      Stream.fromEffectDrain(
        Effect.logWarning(`Not listening on ${channel}.`, cause).pipe(Effect.andThen(Effect.sleep(reconnectDelay)))
      )
    )
  const subscription = Effect.gen(function* () {
    // Pinned once for both: LISTEN holds the session, and the check must use the same connection.
    const session = yield* Effect.flatMap(connect, (connection) => connection.pin)
    const notifications = yield* Effect.timeout(session.listen(channel), timeout)
    const scope = yield* Effect.scope
    const check = Effect.gen(function* () {
      const answer = yield* Effect.forkIn(session.query("select 1"), scope)
      yield* Effect.timeout(Fiber.join(answer), timeout)
    })
    return Stream.fromQueue(notifications).pipe(
      Stream.map(({ payload }): Notice => ({ _tag: "Notified", payload })),
      Stream.merge(Stream.fromEffectDrain(Effect.forever(Effect.delay(check, interval)))),
      (notified) => Stream.concat(emit({ _tag: "Subscribed" }), notified),
      // Caught within the connection's scope, so that `Lost` is emitted before the connection closes.
      Stream.catch(lost)
    )
  })
  return Stream.unwrap(subscription).pipe(
    Stream.catch(lost),
    Stream.forever,
    // Each failed attempt emits `Lost`; only the first one counts.
    Stream.changesWith((before, now) => before._tag === "Lost" && now._tag === "Lost")
  )
}
