/** Ways to run work that show whether a store keeps its word: many transactions at once, and one that is undone. */
import { Effect, Schema } from "effect"
import { Transaction } from "../src/Transaction.ts"

class Undone extends Schema.TaggedError<Undone>()("Undone", {}) {}

/** Runs `work` so many times at once, without transactions around it. */
export const atOnce = <A, E, R>(times: number, work: (n: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: times }, (_, n) => n),
    work,
    { concurrency: "unbounded" }
  )

/** The same, each in a transaction of its own. */
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
