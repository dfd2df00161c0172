/**
 * Port: run these changes and their events as one commit.
 *
 * Events are collected while the work runs and handed to the log as the last step before the commit, after every row
 * lock, so a transaction that waited for this one gets later ids (docs/design/events.md E12). There is no other way to
 * emit an event.
 *
 * Pitfall: expecting an inner `run` to commit. It joins the outer one; only the outermost commits.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { EmittedEvent, NewEvent } from "./events/Envelope.ts"
import { EventLog } from "./events/EventLog.ts"
import { EmittingRegion } from "./events/EventSettings.ts"
import { MemoryStorage } from "./memory/MemoryStorage.ts"
import type { StorageError } from "./StorageError.ts"

const Collected = Context.Reference<Array<EmittedEvent> | undefined>("@narthex/core/CollectedEvents", {
  defaultValue: () => undefined
})

/** What an adapter brings: its own transaction, and where events go within it. */
export interface TransactionParts {
  readonly begin: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
  readonly append: (events: ReadonlyArray<EmittedEvent>) => Effect.Effect<void, StorageError>
  /** Runs after a commit that had events: a hint that there is something to sequence. */
  readonly committed: Effect.Effect<void>
}

export class Transaction extends Context.Service<
  Transaction,
  {
    /** Commits everything that `work` changes and emits, or nothing. */
    readonly run: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
    /** Adds an event to the running transaction. Outside of a transaction it is a defect. */
    readonly emit: (event: NewEvent) => Effect.Effect<void>
  }
>()("@narthex/core/Transaction") {
  static readonly make = (parts: TransactionParts): Transaction["Service"] => ({
    run: (work) =>
      Effect.flatMap(Collected, (outer) => {
        if (outer !== undefined) return work
        const events: Array<EmittedEvent> = []
        const whole = Effect.suspend(() => {
          events.length = 0 // the adapter may run the work again
          return Effect.tap(work, () => (events.length === 0 ? Effect.void : parts.append(events)))
        })
        return parts
          .begin(Effect.provideService(whole, Collected, events))
          .pipe(Effect.tap(() => (events.length === 0 ? Effect.void : parts.committed)))
      }),
    emit: (event) =>
      Effect.gen(function* () {
        const events = yield* Collected
        if (events === undefined)
          return yield* Effect.die(new Error(`${event.type} was emitted outside of a transaction.`))
        events.push({ ...event, region_id: yield* EmittingRegion, at: yield* DateTime.now })
      })
  })

  static readonly layerMemory: Layer.Layer<Transaction, never, MemoryStorage | EventLog> = Layer.effect(
    Transaction,
    Effect.gen(function* () {
      const { transaction } = yield* MemoryStorage
      const { append, wake } = yield* EventLog
      return Transaction.make({ begin: transaction, append, committed: wake })
    })
  )
}
