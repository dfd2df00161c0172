/**
 * Where a stream starts (docs/design/events.md E24, steps 4 and 5). Pure: it decides by order alone, never by whether
 * an id exists, so an id of another organization is just a position and shows nothing foreign.
 */
import type { ProjectId } from "../../Ids.ts"
import type { GapReason } from "../ring/SseFrame.ts"
import type { LastEventId } from "../EventId.ts"
import type { EventRing } from "../ring/EventRing.ts"

export type Start =
  | { readonly _tag: "Live" }
  /** Everything after this id, even if this instance has not seen the id yet. */
  | { readonly _tag: "After"; readonly id: string }
  | { readonly _tag: "Gap"; readonly reason: GapReason; readonly supplied: string | null }

/** What only the log could answer, asked before. */
export interface LogAnswers {
  /** The id is beyond the log's own head: of a lost timeline, or invented. */
  readonly ahead: boolean
  /** The scope had events between the id and the floor of the ring. */
  readonly lost: boolean
}

export const chooseStart = (
  ring: EventRing,
  project: ProjectId | null,
  last: LastEventId,
  answers: LogAnswers
): Start => {
  if (last._tag === "Live") return last
  if (last._tag === "Malformed") return { _tag: "Gap", reason: "malformed", supplied: null }
  if (last.id > ring.lastId && answers.ahead) return { _tag: "Gap", reason: "ahead", supplied: last.supplied }
  const lost = ring.lost(project, last.id)
  return lost === "yes" || (lost === "unknown" && answers.lost)
    ? { _tag: "Gap", reason: "too_old", supplied: last.supplied }
    : { _tag: "After", id: last.id }
}
