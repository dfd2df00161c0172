/** Two pieces of work of which the first has not committed when the second begins. */
import { Transaction } from "@narthex/core"
import { Deferred, Effect, Fiber } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { isAwaited, ownBackend } from "./observe.ts"

/** Runs `first` in a transaction that stays open until `second` has ended or waits for it. */
export const overlapping = <A, B, E, R>(first: Effect.Effect<A, E, R>, second: Effect.Effect<B, E, R>) =>
  Effect.gen(function* () {
    const { run } = yield* Transaction
    const [done, leave] = [yield* Deferred.make<number>(), yield* Deferred.make<void>()]
    const open = yield* Effect.forkChild(
      run(
        Effect.gen(function* () {
          const value = yield* first
          yield* Deferred.succeed(done, yield* ownBackend)
          yield* Deferred.await(leave)
          return value
        })
      )
    )
    const backend = yield* Effect.raceFirst(
      Deferred.await(done),
      Effect.flatMap(Fiber.join(open), () => Effect.never)
    )
    const other = yield* Effect.forkChild(second)
    const hasEnded = () => other.pollUnsafe() !== undefined
    yield* eventually(
      "the second to end, or to wait for the first",
      Effect.map(isAwaited(backend), (waits) => waits || hasEnded())
    )
    const waited = !hasEnded()
    yield* Deferred.succeed(leave, undefined)
    return { first: yield* Fiber.join(open), second: yield* Fiber.join(other), waited }
  })
