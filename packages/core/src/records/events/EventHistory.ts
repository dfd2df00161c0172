/**
 * The history of an organization or a project in pages, oldest event first or newest first (docs/design/api.md, Event
 * streams). It reads the log as it is: no ring, no stream.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { OrgId, ProjectId } from "../../Ids.ts"
import { encodeCursor, type PageRequest } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { type Envelope, toEnvelope } from "./Envelope.ts"
import { noEvent } from "./EventId.ts"
import { EventLog, type HistoryPage } from "./EventLog.ts"

export interface EventHistoryPage {
  readonly events: ReadonlyArray<Envelope>
  readonly next_cursor: string | null
  /** The oldest event that is still retained; `null` when there is none. */
  readonly oldest_id: string | null
  /** Whether every event after the requested position is still retained. */
  readonly complete: boolean
}

export class EventHistory extends Context.Service<
  EventHistory,
  {
    /**
     * Client-visible events after `page.after` (`null`: from the oldest on), ascending. `project` null: of the whole
     * organization.
     */
    readonly read: (
      org: OrgId,
      project: ProjectId | null,
      page: PageRequest
    ) => Effect.Effect<EventHistoryPage, StorageError>
    /**
     * The same, newest first: client-visible events after `after` (`null`: all) and, beyond the first page, before
     * `page.after`.
     */
    readonly readNewest: (
      org: OrgId,
      project: ProjectId | null,
      after: string | null,
      page: PageRequest
    ) => Effect.Effect<EventHistoryPage, StorageError>
  }
>()("@narthex/core/records/events/EventHistory") {
  static readonly layer: Layer.Layer<EventHistory, never, EventLog> = Layer.effect(
    EventHistory,
    Effect.map(EventLog, (log) =>
      EventHistory.of({
        read: Effect.fn("EventHistory.read")(function* (org, project, { after, limit }) {
          return pageOf(yield* log.history(org, project, after ?? noEvent, limit))
        }),
        readNewest: Effect.fn("EventHistory.readNewest")(function* (org, project, after, { after: before, limit }) {
          return pageOf(yield* log.newest(org, project, { after: after ?? noEvent, before }, limit))
        })
      })
    )
  )
}

const pageOf = ({ complete, events, more, oldest_id }: HistoryPage): EventHistoryPage => {
  const last = events.at(-1)
  return {
    events: events.map(toEnvelope),
    next_cursor: more && last !== undefined ? encodeCursor(last.id) : null,
    oldest_id: Option.getOrNull(oldest_id),
    complete
  }
}
