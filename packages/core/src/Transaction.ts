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
import { TransactionRefused } from "./Refusals.ts"
import { type EmittedEvent, loggedData, type NewEvent } from "./records/events/Envelope.ts"
import { EventLog } from "./records/events/EventLog.ts"
import { EmittingRegion } from "./records/events/EventSettings.ts"
import { MemoryStorage } from "./records/memory/MemoryStorage.ts"
import type { StorageError } from "./StorageError.ts"

/** The events and the later work that the running transaction collects. */
interface Collected {
  /** The host's handle, in a transaction that a host has begun. */
  readonly host: object | undefined
  readonly events: Array<EmittedEvent>
  readonly afterwards: Array<Effect.Effect<void, unknown>>
}

const Collected = Context.Reference<Collected | undefined>("@narthex/core/CollectedEvents", {
  defaultValue: () => undefined
})

/** The parts of an adapter: its own transaction, and where events go within it. */
export interface TransactionParts {
  readonly begin: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
  readonly append: (events: ReadonlyArray<EmittedEvent>) => Effect.Effect<void, StorageError>
  /** Runs after a commit that had events: a hint that there is something to sequence. */
  readonly committed: Effect.Effect<void>
  /**
   * Runs `work` inside the transaction of a host's handle: all its changes become part of it, or, when it fails, none.
   * It never commits. Left out: the storage has no transactions that a host could begin.
   */
  readonly join?: <A, E, R>(
    handle: object,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | StorageError | TransactionRefused, R>
  /** Runs `work` on a connection of its own. An adapter with `join` has it. */
  readonly apart?: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** `work`, which collects what it emits and hands it to the log as its last step. */
const collecting = <A, E, R>({ append }: TransactionParts, work: Effect.Effect<A, E, R>, host: object | undefined) => {
  const events: Array<EmittedEvent> = []
  const afterwards: Array<Effect.Effect<void, unknown>> = []
  const whole = Effect.suspend(() => {
    events.length = 0 // the adapter may run the work again
    afterwards.length = 0
    return Effect.tap(work, () => (events.length === 0 ? Effect.void : append(events)))
  })
  return { afterwards, events, whole: Effect.provideService(whole, Collected, { host, events, afterwards }) }
}

/** Whether the running transaction is one that a host has begun. */
export const inHostTransaction: Effect.Effect<boolean> = Effect.map(Collected, (outer) => outer?.host !== undefined)

/**
 * Commits what a change writes together with the events that it emits.
 *
 * @example
 * import { type OrgId, Transaction } from "@narthex/core"
 * export const paid = (org_id: OrgId, amount: number) =>
 *   Transaction.use(({ emit, run }) =>
 *     run(emit({ org_id, project_id: null, type: "invoice.paid.v1", source: "host", internal: false, data: { amount } }))
 *   )
 */
export class Transaction extends Context.Service<
  Transaction,
  {
    /** Commits everything that `work` changes and emits, or nothing. */
    readonly run: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
    /**
     * Runs `work` inside a transaction that the host has begun on the same storage and ends itself
     * (docs/design/events.md E40 to E46): everything that `work` changes and emits commits or rolls back with the host's
     * own changes. A failure of `work` undoes `work` alone. `handle` is what the adapter accepts.
     *
     * Pitfall: ending the host's transaction before this has returned. The rest of `work` would not be part of it.
     */
    readonly within: <A, E, R>(
      handle: object,
      work: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | StorageError | TransactionRefused, R>
    /** Adds an event to the running transaction, its data as `loggedData` returns it. Outside of one it is a defect. */
    readonly emit: (event: NewEvent) => Effect.Effect<void>
    /**
     * Runs `work` once everything before it is committed: now, or inside a transaction after the commit of the outermost
     * `run`, which fails as `work` does. Nothing is undone then. Handlers of errors between the two do not see its
     * failure. It is lost if the process dies before.
     */
    readonly afterCommit: <E>(work: Effect.Effect<void, E>) => Effect.Effect<void, E>
    /**
     * In a host's transaction: runs `work` outside of it, so that it neither rolls back with the host nor holds its locks
     * until the host's commit. Elsewhere `work` itself.
     *
     * Pitfall: touching a row that the transaction has changed. The work would wait for the transaction that waits for it.
     */
    readonly apart: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@narthex/core/Transaction") {
  static readonly make = (parts: TransactionParts): Transaction["Service"] => ({
    run: (work) =>
      Effect.flatMap(Collected, (outer) => {
        if (outer !== undefined) return work
        const { afterwards, events, whole } = collecting(parts, work, undefined)
        return parts.begin(whole).pipe(
          Effect.tap(() => (events.length === 0 ? Effect.void : parts.committed)),
          // The errors of `afterCommit` are among the errors of the work that called it.
          Effect.tap(() => Effect.forEach(afterwards, (it) => it as Effect.Effect<void>, { discard: true }))
        )
      }),
    within: (handle, work) =>
      Effect.flatMap(Collected, (outer) => {
        if (outer !== undefined) return outer.host === handle ? work : new TransactionRefused({ code: "nested" })
        if (parts.join === undefined) return new TransactionRefused({ code: "unsupported" })
        const { afterwards, whole } = collecting(parts, work, handle)
        const waitsForNothing = Effect.suspend(() =>
          afterwards.length === 0 ? Effect.void : new TransactionRefused({ code: "waits_for_commit" })
        )
        return parts.join(handle, Effect.tap(whole, waitsForNothing))
      }),
    emit: (event) =>
      Effect.gen(function* () {
        const collected = yield* Collected
        if (collected === undefined)
          return yield* Effect.die(new Error(`${event.type} was emitted outside of a transaction.`))
        const data = loggedData(event.data)
        collected.events.push({ ...event, data, region_id: yield* EmittingRegion, at: yield* DateTime.now })
      }),
    afterCommit: (work) =>
      Effect.flatMap(Collected, (collected) =>
        collected === undefined ? work : Effect.sync(() => void collected.afterwards.push(work))
      ),
    apart: (work) =>
      Effect.flatMap(Collected, (outer) =>
        outer?.host === undefined || parts.apart === undefined
          ? work
          : Effect.provideService(parts.apart(work), Collected, undefined)
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
