/** Events of the log as rows for people: one for each operation, in its newest state. Pure. */
import type { Envelope } from "@narthex/api"
import { between, type Names, sentenceOfEvent, workOf } from "./eventWords.ts"
import type { FeedItem } from "./Feed.tsx"

const unfinished = new Set(["scheduling", "running", "cancelling"])

export interface RowOptions {
  /** Whether the events are the newest of the log. */
  readonly newest: boolean
  /** Names the project in each sentence. */
  readonly withProject: boolean
}

/**
 * `events` newest first. The event that began an operation gives its duration, if it is among them.
 *
 * On older pages an operation that has not ended is left out: its end is on a newer page.
 */
export const activityRows = (
  events: ReadonlyArray<Envelope>,
  names: Names,
  { newest, withProject }: RowOptions
): ReadonlyArray<FeedItem> => {
  const seen = new Map<string, { readonly at: Envelope["at"]; readonly row: number }>()
  const rows: Array<FeedItem> = []
  for (const event of events) {
    const work = workOf(event)
    const known = work === null ? undefined : seen.get(work.operation_id)
    if (work !== null && known !== undefined) {
      const row = rows[known.row]
      if (work.status === "running" && row !== undefined && row.took === null)
        rows[known.row] = { ...row, took: between(event.at, known.at) }
      continue
    }
    if (work !== null && !newest && unfinished.has(work.status)) continue
    if (work !== null && !unfinished.has(work.status)) seen.set(work.operation_id, { at: event.at, row: rows.length })
    else if (work !== null) seen.set(work.operation_id, { at: event.at, row: -1 })
    rows.push({ key: event.id, at: event.at, took: null, sentence: sentenceOfEvent(event, names, { withProject }) })
  }
  return rows
}
