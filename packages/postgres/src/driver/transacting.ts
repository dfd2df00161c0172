/**
 * Statements and transactions on a pool of the driver's connections: on which connection a statement runs, how a
 * transaction ends, when it is repeated.
 *
 * The driver's own `withTransaction` is not used: it dies when ROLLBACK finds the connection lost, and it nests by
 * savepoints. Here a connection that fails to roll back leaves the pool, which makes the server roll back.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import { Cause, Effect, Exit, identity, Scope } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { type Ask, type Attempt, Attempts, attemptOn, dooming, limited, NotDone, provideAttempt } from "./Attempt.ts"
import { countingUse } from "./countingUse.ts"
import { takingSlots } from "./takingSlots.ts"

const maxAttempts = 5

/** True when the server aborted the transaction in favour of another one. */
const undoneByServer = (doom: Cause.Cause<unknown> | undefined): boolean =>
  doom?.reasons.some(
    (reason) =>
      Cause.isFailReason(reason) &&
      isSqlError(reason.error) &&
      (reason.error.reason._tag === "DeadlockError" || reason.error.reason._tag === "SerializationError")
  ) ?? false

/** `maxConnections`: those of the pool. `onBegin` is the first statement of every transaction. */
export const transacting = (pool: PgPool, maxConnections: number, onBegin?: string) => {
  const here = attemptOn(pool)
  const withSlot = takingSlots(maxConnections)
  const { borrowing, use } = countingUse(maxConnections)

  const alone: Ask = (text, params) =>
    borrowing((lent) =>
      limited(
        withSlot(
          pool.use((connection) => {
            lent()
            return connection.query(text, params)
          }),
          identity
        )
      )
    )

  /** `outside` runs the statement where no transaction is open. */
  const statement = (text: string, params: ReadonlyArray<unknown>, outside = alone) =>
    Effect.withFiber((fiber): ReturnType<Ask> => {
      const attempt = fiber.getRef(Attempts).get(pool)
      return attempt === undefined
        ? outside(text, params)
        : Effect.onError(limited(attempt.send(text, params)), dooming(attempt))
    })

  const begin = (connection: PgConnection) =>
    Effect.andThen(
      limited(connection.query("BEGIN ISOLATION LEVEL READ COMMITTED")),
      onBegin === undefined ? Effect.void : limited(connection.query(onBegin))
    )

  const rollback = (connection: PgConnection) =>
    Effect.catch(limited(connection.query("ROLLBACK")), () => pool.invalidate(connection))

  const commit = (connection: PgConnection) =>
    limited(connection.query("COMMIT")).pipe(
      Effect.filterOrFail(
        (result) => result.command === "COMMIT",
        () => new NotDone({ message: "The server rolled back instead of committing." })
      ),
      Effect.onError(() => rollback(connection))
    )

  /** Runs `work`, then COMMIT or ROLLBACK. The caller returns the connection. Only `work` can be interrupted. */
  const settled = <A, E, R, E2>(
    connection: PgConnection,
    work: (attempt: Attempt) => Effect.Effect<A, E, R>,
    failed: (cause: unknown) => E2
  ) =>
    Effect.gen(function* () {
      const attempt: Attempt = {
        send: (text, params) => connection.query(text, params),
        host: undefined,
        doom: undefined
      }
      const exit = yield* Effect.exit(work(attempt))
      if (Exit.isSuccess(exit) && attempt.doom === undefined) {
        const committed = yield* Effect.exit(Effect.onError(commit(connection), dooming(attempt)))
        return {
          exit: Exit.isSuccess(committed) ? exit : Exit.fail(failed(Cause.squash(committed.cause))),
          again: undoneByServer(attempt.doom)
        }
      }
      yield* rollback(connection)
      return {
        exit: Exit.isSuccess(exit) ? Exit.fail(failed(attempt.doom && Cause.squash(attempt.doom))) : exit,
        again: undoneByServer(attempt.doom) && !(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
      }
    })

  const outermost = <A, E, R, E2>(work: Effect.Effect<A, E, R>, failed: (cause: unknown) => E2, left = maxAttempts) => {
    const once = (lent: () => void) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Scope.make(), (scope) =>
          restore(limited(Scope.provide(pool.reserve, scope))).pipe(
            Effect.mapError(failed),
            Effect.tap(() => Effect.sync(lent)),
            Effect.flatMap((connection) =>
              settled(
                connection,
                (attempt) =>
                  restore(
                    Effect.andThen(Effect.mapError(begin(connection), failed), provideAttempt(work, pool, attempt))
                  ),
                failed
              )
            ),
            Effect.onExit((exit) => Scope.close(scope, exit))
          )
        )
      )
    return Effect.flatMap(
      borrowing((lent) => withSlot(once(lent), failed)),
      ({ exit, again }): Effect.Effect<A, E | E2, R> => (again && left > 1 ? outermost(work, failed, left - 1) : exit)
    )
  }

  const transaction = <A, E, R, E2>(
    work: Effect.Effect<A, E, R>,
    failed: (cause: unknown) => E2
  ): Effect.Effect<A, E | E2, R> =>
    Effect.flatMap(
      here,
      (attempt): Effect.Effect<A, E | E2, R> =>
        attempt === undefined ? outermost(work, failed) : Effect.onError(work, dooming(attempt))
    )

  return { statement, transaction, use }
}
