/**
 * Statements and transactions on a pool of the driver's connections: on which connection a statement runs, how a
 * transaction ends, when it is repeated.
 *
 * The driver's own `withTransaction` is not used: it dies when ROLLBACK finds the connection lost, and it nests by
 * savepoints. Here a connection that fails to roll back leaves the pool, which makes the server roll back.
 */
import type { PgConnection, Result } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import { Cause, Context, Data, type Duration, Effect, Exit, Scope } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/**
 * The time limit of one statement, including the wait for a connection. Then the server cancels it. Migrations have
 * none.
 */
export const StatementLimit = Context.Reference<Duration.Input>("@narthex/postgres/driver/StatementLimit", {
  defaultValue: () => "30 seconds"
})

/** A statement that did not take effect, where Postgres sent no error of its own. */
class NotDone extends Data.TaggedError("NotDone")<{ readonly message: string }> {}

/** One run of a transaction's work. */
interface Attempt {
  readonly connection: PgConnection
  /** The first failure inside, caught or not. An attempt with a doom is rolled back. */
  doom: Cause.Cause<unknown> | undefined
}

/**
 * The open attempts of this fiber, by pool, so that two databases in one program do not use each other's connection.
 */
const Attempts = Context.Reference<ReadonlyMap<PgPool, Attempt>>("@narthex/postgres/driver/Attempts", {
  defaultValue: () => new Map()
})

const maxAttempts = 5

/** True when the server aborted the transaction in favour of another one. */
const undoneByServer = (doom: Cause.Cause<unknown> | undefined): boolean =>
  doom?.reasons.some(
    (reason) =>
      Cause.isFailReason(reason) &&
      isSqlError(reason.error) &&
      (reason.error.reason._tag === "DeadlockError" || reason.error.reason._tag === "SerializationError")
  ) ?? false

const dooming = (attempt: Attempt) => (cause: Cause.Cause<unknown>) =>
  Effect.sync(() => {
    attempt.doom ??= cause
  })

const limited = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | NotDone, R> =>
  Effect.flatMap(StatementLimit, (duration) =>
    Effect.timeoutOrElse(work, {
      duration,
      orElse: () => Effect.fail(new NotDone({ message: "Postgres took too long." }))
    })
  )

/** `onBegin` is the first statement of every transaction. */
export const transacting = (pool: PgPool, onBegin?: string) => {
  const here = Effect.map(Attempts, (attempts) => attempts.get(pool))

  const statement = (text: string, params: ReadonlyArray<unknown>): Effect.Effect<Result, SqlError | NotDone> =>
    Effect.flatMap(here, (attempt) =>
      attempt === undefined
        ? limited(pool.use((connection) => connection.query(text, params)))
        : Effect.onError(limited(attempt.connection.query(text, params)), dooming(attempt))
    )

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
      const attempt: Attempt = { connection, doom: undefined }
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
    const once = Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Scope.make(), (scope) =>
        restore(limited(Scope.provide(pool.reserve, scope))).pipe(
          Effect.mapError(failed),
          Effect.flatMap((connection) =>
            settled(
              connection,
              (attempt) =>
                restore(
                  Effect.andThen(
                    Effect.mapError(begin(connection), failed),
                    Effect.flatMap(Attempts, (outer) =>
                      Effect.provideService(work, Attempts, new Map(outer).set(pool, attempt))
                    )
                  )
                ),
              failed
            )
          ),
          Effect.onExit((exit) => Scope.close(scope, exit))
        )
      )
    )
    return Effect.flatMap(
      once,
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

  return { statement, transaction }
}
