/**
 * Work inside a transaction that a host has begun on its own connection (docs/design/events.md E40 to E46).
 *
 * 1. A savepoint, which the server refuses outside of a transaction.
 * 2. One statement reads the place and the settings of the connection, and makes the settings that this package's
 *    statements need, for the transaction alone. A transaction that cannot keep their promises is refused.
 * 3. The work. Its statements run one after the other: a driver may not accept a second one before the first is over.
 * 4. The settings of the host are restored and the savepoint is released; or a rollback to the savepoint restores them.
 *
 * The transaction is never ended here, and nothing is repeated: the host does both.
 *
 * Pitfall: a statement after the host's COMMIT. On the same connection it would commit by itself. The status that a
 * driver knows is asked before each statement, and a setting of the transaction, which ends with it, at the end.
 */
import type { PgPool } from "@effect/sql-pg/PgPool"
import { StorageError, TransactionRefused } from "@narthex/core"
import { Cause, Effect, Exit, Predicate } from "effect"
import {
  type Answer,
  type Ask,
  type Attempt,
  attemptOn,
  dooming,
  HostStatementFailed,
  limited,
  NotDone,
  provideAttempt,
  type StatementFailure
} from "../driver/Attempt.ts"
import type { HostSavepoint, HostSession, TextRows } from "./HostSession.ts"
import { type Place, type Placed, placing, putBack, whereItIs } from "./placing.ts"
import { sessionOf } from "./sessionOf.ts"
import { textOf, valueOf } from "./text.ts"

const refused = (code: TransactionRefused["code"]) => new TransactionRefused({ code })

const rowsOf = ({ columns, rows }: TextRows): ReadonlyArray<object> =>
  rows.map((row) =>
    Object.fromEntries(columns.map(({ name, oid }, index) => [name, valueOf(oid, row[index] ?? null)] as const))
  )

const codeOf = (error: unknown): unknown => (Predicate.hasProperty(error, "code") ? error.code : undefined)

const failed = (cause: unknown) => new StorageError({ operation: "HostTransaction", cause })

/** The meaning of an error at the opening of a savepoint. */
const notOpened = (error: unknown): TransactionRefused | StorageError => {
  if (codeOf(error) === "25P01") return refused("not_in_transaction")
  return codeOf(error) === "25P02" ? refused("failed") : failed(error)
}

/** Rolls back to the savepoint. `true`: it has ended with the transaction, or with one around it that the host ended. */
const ended = (savepoint: HostSavepoint): Effect.Effect<boolean> => {
  const undo = Effect.tryPromise({
    try: () => savepoint.rollback(),
    catch: (cause) => new HostStatementFailed({ cause })
  })
  return Effect.match(limited(undo), {
    onFailure: (failure) =>
      failure instanceof HostStatementFailed && ["25P01", "3B001"].includes(String(codeOf(failure.cause))),
    onSuccess: () => false
  })
}

/** The keys of sessions that run a call. */
const busy = new WeakSet<object>()

/** How long a rollback waits for a statement that was given up: longer than the server lets that one run. */
const patience = "40 seconds"

/** Statements inside an open savepoint, one after the other. */
const statements = (session: HostSession, savepoint: HostSavepoint) => {
  let last: Promise<unknown> = Promise.resolve()
  let closed = false
  const send = (text: string, params: ReadonlyArray<unknown>): Effect.Effect<Answer, StatementFailure> =>
    Effect.tryPromise({
      try: (signal) => {
        const answer = last.then(() => {
          if (closed || signal.aborted) throw new NotDone({ message: "The call in the host's transaction is over." })
          if (session.inTransaction() === false) throw refused("ended")
          return savepoint.send(text, params.map(textOf))
        })
        last = answer.catch(() => undefined)
        return answer.then((rows) => ({ rows: rowsOf(rows) }))
      },
      catch: (cause) => (cause instanceof NotDone ? cause : new HostStatementFailed({ cause }))
    })
  /** No statement is sent from here on. Resolves once the last one is over. */
  const close = Effect.suspend(() => {
    closed = true
    return Effect.ignore(
      Effect.timeoutOption(
        Effect.promise(() => last),
        patience
      )
    )
  })
  return { send, close }
}

/**
 * `ask` runs a statement on a connection of this package. `limits` are the parameters that bound a statement, by name, in
 * milliseconds. `schema` has the tables.
 */
export const joining = (pool: PgPool, ask: Ask, limits: Readonly<Record<string, string>>, schema: string) => {
  let known: Place | undefined

  const place = Effect.suspend(() => {
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(Effect.mapError(ask(whereItIs, [schema]), failed), ({ rows }) => {
      known = rows[0] as Place // the columns of `whereItIs`
      return known
    })
  })

  /** Step 2, and what the host's settings were. */
  const settle = (send: Attempt["send"], expected: Place, token: string) =>
    Effect.gen(function* () {
      const { params, text } = placing(expected, limits, token)
      const { rows } = yield* Effect.mapError(limited(send(text, params)), failed)
      const found = rows[0] as Placed // the columns of `placing`
      if (found.system !== expected.system || found.database !== expected.database || found.relation === null) {
        known = undefined // the database may have been restored since
        return yield* refused("other_database")
      }
      if (!found.permitted) return yield* refused("no_rights")
      if (found.isolation !== "read committed" && found.isolation !== "read uncommitted")
        return yield* refused("isolation")
      return found
    })

  /** Step 4 after a success. `false`: the host's transaction ended before. */
  const keep = (send: Attempt["send"], savepoint: HostSavepoint, found: Placed, token: string) =>
    Effect.gen(function* () {
      const { params, text } = putBack(found, token)
      const { rows } = yield* limited(send(text, params))
      if (!(rows[0] as { readonly same: boolean }).same) return yield* refused("ended")
      yield* limited(Effect.tryPromise(() => savepoint.release()))
    })

  const inside = <A, E, R>(session: HostSession, handle: object, work: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const expected = yield* place
        const savepoint = yield* Effect.mapError(
          limited(Effect.tryPromise({ try: () => session.open(), catch: notOpened })),
          (error) => (error instanceof NotDone ? failed(error) : error)
        )
        const { close, send } = statements(session, savepoint)
        const attempt: Attempt = { send, host: handle, doom: undefined }
        const token = crypto.randomUUID()
        const exit = yield* Effect.exit(
          Effect.flatMap(settle(send, expected, token), (found) =>
            Effect.map(restore(provideAttempt(work, pool, attempt)), (value) => ({ found, value }))
          )
        )
        const kept =
          Exit.isSuccess(exit) && attempt.doom === undefined
            ? yield* Effect.exit(keep(send, savepoint, exit.value.found, token))
            : undefined
        yield* close
        if (Exit.isSuccess(exit) && kept !== undefined && Exit.isSuccess(kept)) return exit.value.value
        if (yield* ended(savepoint)) return yield* refused("ended")
        if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
        const why = attempt.doom ?? (kept !== undefined && Exit.isFailure(kept) ? kept.cause : undefined)
        return yield* failed(why === undefined ? undefined : Cause.squash(why))
      })
    )

  return <A, E, R>(
    handle: object,
    work: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | StorageError | TransactionRefused, R> =>
    Effect.flatMap(attemptOn(pool), (attempt): Effect.Effect<A, E | StorageError | TransactionRefused, R> => {
      if (attempt !== undefined)
        return attempt.host === handle ? Effect.onError(work, dooming(attempt)) : refused("nested")
      const session = sessionOf(handle)
      if (session === undefined) return refused("unknown_handle")
      if (session === "pool") return refused("not_in_transaction")
      return Effect.suspend(() => {
        if (busy.has(session.key)) return refused("busy")
        busy.add(session.key)
        return Effect.ensuring(
          inside(session, handle, work),
          Effect.sync(() => busy.delete(session.key))
        )
      })
    })
}
