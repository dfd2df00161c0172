/** Events of the log as rows for people: one for each operation, in its newest state. Pure. */
import type { Envelope } from "@narthex/api"
import { between, isRoot, type Names, plain, sentenceOfEvent, workOf } from "./eventWords.ts"
import type { FeedItem } from "./Feed.tsx"

const unfinished = new Set(["scheduling", "running", "cancelling"])

export interface RowOptions {
  /** Whether the events are the newest of the log. */
  readonly newest: boolean
  /** Names the project in each sentence. */
  readonly withProject: boolean
}

/**
 * The operations that delete the other branches of a deleted project. One commit schedules them and that of the root, so
 * their events follow each other, with the cancellations of what had not begun.
 */
const partsOfProjects = (events: ReadonlyArray<Envelope>, names: Names): ReadonlySet<string> => {
  const runs = new Map<string, { readonly operations: Array<string>; root: boolean; over: boolean }>()
  for (const event of events) {
    const work = workOf(event)
    if (work === null || work.project_id === null) continue
    const run = runs.get(work.project_id) ?? { operations: [], root: false, over: false }
    runs.set(work.project_id, run)
    if (run.over) continue
    if (work.action === "delete_timeline" && work.status === "scheduling") {
      if (isRoot(work.branch_id, names)) run.root = true
      else run.operations.push(work.operation_id)
    } else if (work.status !== "cancelled") {
      run.over = run.root || run.operations.length > 0
    }
  }
  return new Set([...runs.values()].flatMap(({ operations, root }) => (root ? operations : [])))
}

/**
 * `events` newest first. The event that began an operation gives its duration, if it is among them.
 *
 * On older pages an operation that has not ended is left out: its end is on a newer page. Updates of roles that follow
 * each other are one row, because every temporary password has two.
 */
export const activityRows = (
  events: ReadonlyArray<Envelope>,
  names: Names,
  { newest, withProject }: RowOptions
): ReadonlyArray<FeedItem> => {
  const parts = partsOfProjects(events, names)
  const seen = new Map<string, { readonly at: Envelope["at"]; readonly row: number }>()
  const rows: Array<FeedItem> = []
  let updated: string | null = null
  for (const event of events) {
    const work = workOf(event)
    if (work !== null && parts.has(work.operation_id)) continue
    const known = work === null ? undefined : seen.get(work.operation_id)
    if (work !== null && known !== undefined) {
      const row = rows[known.row]
      if (work.status === "running" && row !== undefined && row.took === null)
        rows[known.row] = { ...row, took: between(event.at, known.at) }
      continue
    }
    if (work !== null && !newest && unfinished.has(work.status)) continue
    const sentence = sentenceOfEvent(event, names, { withProject })
    const update = work?.action === "apply_config" && work.status === "finished" ? plain(sentence) : null
    const again = update !== null && update === updated
    updated = update
    if (work !== null) {
      const row = again || unfinished.has(work.status) ? -1 : rows.length
      seen.set(work.operation_id, { at: event.at, row })
    }
    if (!again) rows.push({ key: event.id, at: event.at, took: null, sentence })
  }
  return rows
}
