/**
 * Statements and transactions on a pool of the driver's connections: on which connection a statement runs, how a
 * transaction ends, when it is repeated.
 *
 * The driver's own `withTransaction` is not used: it dies when ROLLBACK finds the connection lost, and it nests by
 * savepoints. Here a connection that fails to roll back leaves the pool, which makes the server roll back. A session on a
 * server that became read-only leaves the pool too, because its server is no longer the primary.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import { Cause, Effect, Exit, identity, Predicate, Scope } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { type Ask, type Attempt, Attempts, attemptOn, dooming, limited, NotDone, provideAttempt } from "./Attempt.ts"
import { countingUse } from "./countingUse.ts"
import { takingSlots } from "./takingSlots.ts"

const maxAttempts = 5

/** True when the server refused the change because it is read-only: after a fail-over it is no longer the primary. */
const isReadOnly = (error: unknown): boolean =>
  isSqlError(error) && Predicate.hasProperty(error.reason.cause, "code") && error.reason.cause.code === "25006"

const contains = (doom: Cause.Cause<unknown> | undefined, counts: (error: unknown) => boolean): boolean =>
  doom?.reasons.some((reason) => Cause.isFailReason(reason) && counts(reason.error)) ?? false

/** True when the server aborted the transaction in favour of another one, or made no change because it is read-only. */
const undoneByServer = (doom: Cause.Cause<unknown> | undefined): boolean =>
  contains(
    doom,
    (error) =>
      isReadOnly(error) ||
      (isSqlError(error) && (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError"))
  )

/**
 * `maxConnections`: those of the pool. `waited` gets the seconds that work has waited for a connection. `onBegin` is the first
 * statement of every transaction.
 */
export const transacting = (
  pool: PgPool,
  maxConnections: number,
  waited: (seconds: number) => void,
  onBegin?: string
) => {
  const here = attemptOn(pool)
  const withSlot = takingSlots(maxConnections)
  const { borrowing, use } = countingUse(maxConnections, waited)

  const once: Ask = (text, params) =>
    borrowing((lent) =>
      limited(
        withSlot(
          pool.use((connection) => {
            lent()
            return Effect.tapError(connection.query(text, params), (error) =>
              isReadOnly(error) ? pool.invalidate(connection) : Effect.void
            )
          }),
          identity
        )
      )
    )

  const alone: Ask = (text, params) => Effect.retry(once(text, params), { while: isReadOnly, times: maxAttempts - 1 })

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
      yield* contains(attempt.doom, isReadOnly) ? pool.invalidate(connection) : rollback(connection)
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
