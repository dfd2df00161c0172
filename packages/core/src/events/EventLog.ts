/**
 * Port: the durable, totally ordered log of everything that happened, kept for the retention time.
 *
 * `append` is for the transaction port alone, as the last step before its commit: that is what makes the order
 * causal. Ids and positions exist only once an event is sequenced, which is after the commit; readers see
 * dense positions, so `pos > cursor` never skips anything. (Forgetting old events leaves holes at the low end.)
 *
 * `layerMemory` is the reference implementation. The contract that every adapter must meet is executable:
 * `eventLogContract` of `@narthex/core/testing`.
 */
import { Context, type DateTime, Effect, Layer, type Option, type Stream } from "effect"
import type { OrgId, ProjectId } from "../Ids.ts"
import type { StorageError } from "../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { EmittedEvent, LoggedEvent } from "./Envelope.ts"
import { makeMemoryEventLog } from "./MemoryEventLog.ts"

/** The newest events of an organization, ascending. `floor` is the newest id that is not in the window. */
export interface EventWindow {
  readonly events: ReadonlyArray<LoggedEvent>
  readonly floor: Option.Option<string>
}

export interface HistoryPage {
  readonly events: ReadonlyArray<LoggedEvent>
  /** The oldest id still kept in this scope. */
  readonly oldest_id: Option.Option<string>
  /** Was anything after `after` trimmed already? Then the page starts at the oldest and is not complete. */
  readonly complete: boolean
  /** Are there more after this page? */
  readonly more: boolean
}

export class EventLog extends Context.Service<
  EventLog,
  {
    /** Hands events to the log within the running transaction, in this order. Only `Transaction` calls it. */
    readonly append: (events: ReadonlyArray<EmittedEvent>) => Effect.Effect<void, StorageError>
    /** Gives committed events their ids: `more` when some may be left, `busy` when another instance is at it. */
    readonly sequence: Effect.Effect<"idle" | "busy" | "more", StorageError>
    /** Position and id of the newest event of all organizations. */
    readonly head: Effect.Effect<{ readonly pos: number; readonly id: string }, StorageError>
    /** The organization's newest id; without events the id up to which the log was trimmed, else `noEvent`. */
    readonly headOf: (org: OrgId) => Effect.Effect<string, StorageError>
    /** Events after a position, ascending, internal ones included. */
    readonly tail: (after: number, limit: number) => Effect.Effect<ReadonlyArray<LoggedEvent>, StorageError>
    /** The newest `cap` events of an organization, internal ones included. */
    readonly window: (org: OrgId, cap: number) => Effect.Effect<EventWindow, StorageError>
    /** Does the scope have a client-visible event with `after < id <= upTo`? Trimmed ones count as there. */
    readonly scopeHasBetween: (
      org: OrgId,
      project: ProjectId | null,
      after: string,
      upTo: string
    ) => Effect.Effect<boolean, StorageError>
    /** Client-visible events after an id, ascending. */
    readonly history: (
      org: OrgId,
      project: ProjectId | null,
      after: string,
      limit: number
    ) => Effect.Effect<HistoryPage, StorageError>
    /** Something may be new. Hints only: readers poll as well. */
    readonly wakeups: Stream.Stream<void>
    /** Gives this instance's readers such a hint. `Transaction` does it after a commit with events. */
    readonly wake: Effect.Effect<void>
    /** Forgets events before an instant, but keeps the newest `keep` of each organization. Answers how many went. */
    readonly trim: (before: DateTime.Utc, keep: number) => Effect.Effect<number, StorageError>
  }
>()("@narthex/core/events/EventLog") {
  /** On `MemoryStorage`: writers take turns there, so ids are given at once and in the order of commits. */
  static readonly layerMemory: Layer.Layer<EventLog, never, MemoryStorage> = Layer.effect(
    EventLog,
    Effect.flatMap(MemoryStorage, makeMemoryEventLog)
  )
}
