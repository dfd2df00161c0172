/**
 * Port: run these changes and their events as one commit.
 *
 * Events are collected while the work runs and handed to the log as the last step before the commit, after every row
 * lock, so a transaction that waited for this one gets later ids (docs/design/events.md E12). There is no other way to
 * emit an event.
 *
 * Pitfall: expecting an inner `run` to commit. It joins the outer one; only the outermost commits. Work that needs the
 * commit, such as the wait for a runner, belongs in `afterCommit`.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { EmittedEvent, NewEvent } from "./events/Envelope.ts"
import { EventLog } from "./events/EventLog.ts"
import { EmittingRegion } from "./events/EventSettings.ts"
import { MemoryStorage } from "./memory/MemoryStorage.ts"
import type { StorageError } from "./StorageError.ts"

/** What the running transaction collects. */
interface Collected {
  readonly events: Array<EmittedEvent>
  readonly afterwards: Array<Effect.Effect<void, unknown>>
}

const Collected = Context.Reference<Collected | undefined>("@narthex/core/CollectedEvents", {
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
    /**
     * Runs `work` once everything before it is committed: now, or inside a transaction after the commit of the outermost
     * `run`, which fails as `work` does. Nothing is undone then. Handlers of errors between the two do not see its
     * failure. It is lost if the process dies before.
     */
    readonly afterCommit: <E>(work: Effect.Effect<void, E>) => Effect.Effect<void, E>
  }
>()("@narthex/core/Transaction") {
  static readonly make = (parts: TransactionParts): Transaction["Service"] => ({
    run: (work) =>
      Effect.flatMap(Collected, (outer) => {
        if (outer !== undefined) return work
        const events: Array<EmittedEvent> = []
        const afterwards: Array<Effect.Effect<void, unknown>> = []
        const whole = Effect.suspend(() => {
          events.length = 0 // the adapter may run the work again
          afterwards.length = 0
          return Effect.tap(work, () => (events.length === 0 ? Effect.void : parts.append(events)))
        })
        return parts.begin(Effect.provideService(whole, Collected, { events, afterwards })).pipe(
          Effect.tap(() => (events.length === 0 ? Effect.void : parts.committed)),
          // What `afterCommit` may fail with is among the errors of the work that called it.
          Effect.tap(() => Effect.forEach(afterwards, (it) => it as Effect.Effect<void>, { discard: true }))
        )
      }),
    emit: (event) =>
      Effect.gen(function* () {
        const collected = yield* Collected
        if (collected === undefined)
          return yield* Effect.die(new Error(`${event.type} was emitted outside of a transaction.`))
        collected.events.push({ ...event, region_id: yield* EmittingRegion, at: yield* DateTime.now })
      }),
    afterCommit: (work) =>
      Effect.flatMap(Collected, (collected) =>
        collected === undefined ? work : Effect.sync(() => void collected.afterwards.push(work))
      )
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
