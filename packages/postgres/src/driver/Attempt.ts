/**
 * One run of a transaction's work, and how statements find the one that they belong to: the fiber carries its open
 * attempts. The code is the same for a transaction of this package and for one that a host has begun.
 */
import type { PgPool } from "@effect/sql-pg/PgPool"
import { type Cause, Context, Data, Duration, Effect, Fiber } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/**
 * The time limit of one statement, including the wait for a connection. Then the server cancels it. Migrations have
 * none.
 */
export const StatementLimit = Context.Reference<Duration.Duration>("@narthex/postgres/driver/StatementLimit", {
  defaultValue: () => Duration.seconds(30)
})

/** A statement that did not take effect, where Postgres sent no error of its own. */
export class NotDone extends Data.TaggedError("NotDone")<{ readonly message: string }> {}

/** A statement that failed on the connection of a host. `cause` is the error of the host's driver. */
export class HostStatementFailed extends Data.TaggedError("HostStatementFailed")<{ readonly cause: unknown }> {}

/** Why a statement failed. */
export type StatementFailure = SqlError | NotDone | HostStatementFailed

/** The answer to a statement, in the representations of `Database`. */
export interface Answer {
  readonly rows: ReadonlyArray<object>
}

export type Ask = (text: string, params: ReadonlyArray<unknown>) => Effect.Effect<Answer, StatementFailure>

export interface Attempt {
  readonly send: Ask
  /** The host's handle, in a transaction that a host has begun. */
  readonly host: object | undefined
  /** The first failure inside, caught or not. An attempt with a doom is rolled back. */
  doom: Cause.Cause<unknown> | undefined
}

/**
 * The open attempts of this fiber, by pool, so that two databases in one program do not use each other's connection.
 */
export const Attempts = Context.Reference<ReadonlyMap<PgPool, Attempt>>("@narthex/postgres/driver/Attempts", {
  defaultValue: () => new Map()
})

/** The attempt that statements of this fiber belong to. */
export const attemptOn = (pool: PgPool): Effect.Effect<Attempt | undefined> =>
  Effect.map(Attempts, (attempts) => attempts.get(pool))

/** `work`, whose statements on this pool belong to the attempt. */
export const provideAttempt = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  pool: PgPool,
  attempt: Attempt
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Attempts, (outer) => Effect.provideService(work, Attempts, new Map(outer).set(pool, attempt)))

export const dooming = (attempt: Attempt) => (cause: Cause.Cause<unknown>) =>
  Effect.sync(() => {
    attempt.doom ??= cause
  })

/** The longest time of `setTimeout`, in milliseconds. */
const longestTimer = 2 ** 31 - 1

/**
 * `work`, which is interrupted and fails when the time of one statement is over. It runs for each statement: one fiber and
 * a timer, where Effect's own race would take two fibers.
 */
export const limited = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | NotDone, R> =>
  Effect.contextWith((context: Context.Context<R>): Effect.Effect<A, E | NotDone, R> => {
    const limit = Duration.toMillis(Context.get(context, StatementLimit))
    if (limit > longestTimer) return work
    return Effect.callback<A, E | NotDone>((resume) => {
      const running = Effect.runForkWith(context)(work)
      const exit = running.pollUnsafe()
      if (exit !== undefined) return resume(exit)
      const stop = Fiber.interrupt(running)
      const timer = setTimeout(() => {
        const over = new NotDone({ message: "Postgres took too long." })
        resume(Effect.andThen(Effect.uninterruptible(stop), Effect.fail(over)))
      }, limit)
      running.addObserver((ended) => {
        clearTimeout(timer)
        resume(ended)
      })
      return stop
    })
  })
