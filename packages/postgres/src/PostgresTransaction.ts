/**
 * `Transaction` on Postgres: a transaction of the database that appends the collected events to the log as its last
 * statement.
 *
 * After a commit with events this instance sequences them at once instead of waiting for the next poll. That is an
 * optimization: it runs in the background, one run at a time however many commits ask for it, and its failure is
 * ignored, because the poll of any instance sequences what is left.
 */
import { EventLog, type StorageError, Transaction } from "@narthex/core"
import { Effect, Layer, Queue } from "effect"
import { Database } from "./database/Database.ts"
import { Attempts } from "./driver/Attempt.ts"

/**
 * What to do while another instance is sequencing. Its snapshot may be older than this commit, so it may leave the new
 * events behind: retry a few times before the next poll.
 */
const whenBusy = { retries: 3, delay: "2 millis" } as const

const make = Effect.gen(function* () {
  const { join, transaction } = yield* Database
  const { append, sequence, wake } = yield* EventLog
  // Holds at most one pending request: commits that arrive during a run share the next one.
  const requests = yield* Queue.sliding<void>(1)

  const drain = (retriesLeft: number): Effect.Effect<void, StorageError> =>
    Effect.flatMap(sequence, (state) => {
      if (state === "more") return drain(whenBusy.retries)
      return state === "busy" && retriesLeft > 0 ? Effect.delay(drain(retriesLeft - 1), whenBusy.delay) : Effect.void
    })
  const sequenceOnce = Effect.andThen(
    Queue.take(requests),
    Effect.andThen(drain(whenBusy.retries), wake).pipe(
      Effect.catch((error) => Effect.logDebug("Committed events wait for the next poll.", error))
    )
  )
  yield* Effect.forkScoped(Effect.forever(sequenceOnce))

  return Transaction.make({
    begin: transaction,
    join,
    apart: (work) => Effect.provideService(work, Attempts, new Map()),
    append,
    committed: Effect.asVoid(Queue.offer(requests, undefined))
  })
})

export const PostgresTransaction = {
  layer: Layer.effect(Transaction, make)
}
