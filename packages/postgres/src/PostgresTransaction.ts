/**
 * `Transaction` on Postgres: a transaction of the database that appends the collected events to the log as its last
 * statement.
 *
 * After a commit with events this instance sequences them at once instead of waiting for the next poll. Sequencing at
 * once is an optimization: it runs in the background, one run at a time however many commits ask for it. A failure is
 * ignored, because the poll of any instance sequences the remaining events.
 */
import { EventLog, Requester, type StorageError, Transaction } from "@narthex/core"
import { Effect, Layer, Queue } from "effect"
import { Database } from "./database/Database.ts"
import { Attempts } from "./driver/Attempt.ts"

/**
 * Milliseconds between tries while another instance is sequencing, the first and the last; each is twice the one before.
 * Its snapshot may be older than this commit, so it may leave the new events behind, and a reader that it notifies does not
 * give them ids (docs/design/events.md E14). Together the tries take as long as a poll.
 */
const whenBusy = { first: 2, last: 128 }

const make = Effect.gen(function* () {
  const { join, transaction } = yield* Database
  const { append, sequence, wake } = yield* EventLog
  // Holds at most one pending request: commits that arrive during a run share the next one.
  const requests = yield* Queue.sliding<void>(1)

  const drain = (wait: number): Effect.Effect<void, StorageError> =>
    Effect.flatMap(sequence, (state) => {
      if (state === "more") return drain(whenBusy.first)
      return state === "busy" && wait <= whenBusy.last ? Effect.delay(drain(2 * wait), wait) : Effect.void
    })
  const sequenceOnce = Effect.andThen(
    Queue.take(requests),
    Effect.andThen(drain(whenBusy.first), wake).pipe(
      Effect.catch((error) => Effect.logDebug("Committed events wait for the next poll.", error))
    )
  )
  yield* Effect.forkScoped(Effect.forever(sequenceOnce))

  return Transaction.make({
    begin: transaction,
    join,
    // Without a slot: requests may hold all of them, and wait for what the host has locked.
    apart: (work) => Effect.provideService(Effect.provideService(work, Attempts, new Map()), Requester, null),
    append,
    committed: Effect.asVoid(Queue.offer(requests, undefined))
  })
})

export const PostgresTransaction = {
  layer: Layer.effect(Transaction, make)
}
