/**
 * `Transaction` on Postgres: the database's own, with the events handed to the log as its last statement.
 *
 * After a commit that had events this instance sequences them at once instead of waiting for the next poll. That is a
 * hint: it runs beside the caller, one call at a time however many commits ask, and its failure is nobody's, because
 * any instance's poll finds what was left.
 */
import { EventLog, type StorageError, Transaction } from "@narthex/core"
import { Effect, Layer, Queue } from "effect"
import { Database } from "./database/Database.ts"

/** While another instance is at it, its snapshot may be older than our commit: look again before the poll would. */
const whenBusy = { times: 3, pause: "2 millis" } as const

const make = Effect.gen(function* () {
  const { transaction } = yield* Database
  const { append, sequence, wake } = yield* EventLog
  // Holds at most one wish: whoever commits meanwhile is served by the same run.
  const wishes = yield* Queue.sliding<void>(1)

  const drain = (busyLeft: number): Effect.Effect<void, StorageError> =>
    Effect.flatMap(sequence, (state) => {
      if (state === "more") return drain(whenBusy.times)
      return state === "busy" && busyLeft > 0 ? Effect.delay(drain(busyLeft - 1), whenBusy.pause) : Effect.void
    })
  const served = Effect.andThen(
    Queue.take(wishes),
    Effect.andThen(drain(whenBusy.times), wake).pipe(
      Effect.catch((error) => Effect.logDebug("Committed events wait for the next poll.", error))
    )
  )
  yield* Effect.forkScoped(Effect.forever(served))

  return Transaction.make({
    begin: transaction,
    append,
    committed: Effect.asVoid(Queue.offer(wishes, undefined))
  })
})

export const PostgresTransaction = {
  layer: Layer.effect(Transaction, make)
}
