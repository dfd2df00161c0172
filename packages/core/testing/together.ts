/** Runs work in ways that test a contract: in many simultaneous transactions, and in one that is rolled back. */
import { Effect, Schema } from "effect"
import { Transaction } from "../src/Transaction.ts"

class Undone extends Schema.TaggedError<Undone>()("Undone", {}) {}

/** Runs `work` a number of times at once, without transactions. */
export const atOnce = <A, E, R>(times: number, work: (n: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: times }, (_, n) => n),
    work,
    { concurrency: "unbounded" }
  )

/** Runs `work` a number of times at once, each in a separate transaction. */
export const inTransactionsAtOnce = <A, E, R>(times: number, work: (n: number) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { run } = yield* Transaction
    return yield* atOnce(times, (n) => run(work(n)))
  })

/** Runs `work` in a transaction that fails after it. */
export const undone = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { run } = yield* Transaction
    yield* Effect.flip(run(Effect.andThen(work, Effect.fail(new Undone()))))
  })
