/**
 * Where a stream starts (docs/design/events.md E24, steps 4 and 5). An id that is not of the organization's own log is a gap,
 * whether its event was lost, it is forged, or it is of another organization. So it reveals nothing.
 *
 * `askLog` runs before the client waits for its turn and finds out what the ring cannot know; `chooseStart` is
 * synchronous and decides when the stream is attached.
 */
import { type Duration, Effect } from "effect"
import type { ProjectId } from "../../../Ids.ts"
import type { EventFeed } from "../../../records/events/EventFeed.ts"
import type { LastEventId } from "../../../records/events/EventId.ts"
import type { EventLog } from "../../../records/events/EventLog.ts"
import type { StorageError } from "../../../StorageError.ts"
import type { EventRing } from "../ring/EventRing.ts"
import type { GapReason } from "../ring/SseFrame.ts"
import type { StreamAccess } from "./StreamAccess.ts"

export type Start =
  | { readonly _tag: "Live" }
  /** Everything after this position, even if this instance has not received it yet. */
  | { readonly _tag: "After"; readonly position: string }
  | { readonly _tag: "Gap"; readonly reason: GapReason; readonly last_event_id: string | null }

/** The findings that only the log can make. Both are `false` where the ring is enough and the log was not asked. */
export interface LogFindings {
  /** The position is not in the log: its event was lost with the end of the log, or the position is forged. */
  readonly ahead: boolean
  /** The position is below the floor of the log, or the scope had events between it and the floor of the ring. */
  readonly lost: boolean
}

const ringKnows: LogFindings = { ahead: false, lost: false }

/** Whether the position is that of an entry, or the one before the oldest. */
const isIn = (ring: EventRing, position: string) => ring.idBefore(ring.cursorAfter(position)) === position

/**
 * Asks the log about a position that the ring has not: beyond it (step 4; the log is read once more first), in it, or before
 * it (step 5).
 *
 * Pitfall: comparing a position with the head alone. A log that lost its end is soon past the positions that it lost.
 */
export const askLog = (
  ring: EventRing,
  { org_id, project_id }: StreamAccess,
  last: LastEventId,
  log: EventLog["Service"],
  feed: EventFeed["Service"],
  freshness: Duration.Duration
): Effect.Effect<LogFindings, StorageError> =>
  Effect.gen(function* () {
    if (last._tag !== "After") return ringKnows
    const { position } = last
    if (position > ring.lastId) yield* Effect.timeoutOption(feed.refresh, freshness)
    if (isIn(ring, position) || ring.lostAfter(project_id, position)) return ringKnows
    const newest = yield* log.headOf(org_id, position)
    if (position > newest) return { ...ringKnows, ahead: true }
    if (position < newest) return { ...ringKnows, lost: true } // below the floor, which may be newer than the ring's
    if (ring.knowsLossAfter(project_id, position)) return ringKnows
    return { ...ringKnows, lost: yield* log.scopeHasBetween(org_id, project_id, position, ring.floor) }
  })

/** Synchronous, and called in the step that attaches: the ring may have moved while the client waited for its turn. */
export const chooseStart = (
  ring: EventRing,
  project: ProjectId | null,
  last: LastEventId,
  findings: LogFindings
): Start => {
  if (last._tag === "Live") return last
  if (last._tag === "Malformed") return { _tag: "Gap", reason: "malformed", last_event_id: null }
  const { last_event_id, position } = last
  if (findings.ahead) return { _tag: "Gap", reason: "ahead", last_event_id }
  return findings.lost || ring.lostAfter(project, position)
    ? { _tag: "Gap", reason: "too_old", last_event_id }
    : { _tag: "After", position }
}
