/** The text of an event, for a cell or a line. */
import type { Envelope } from "@narthex/api"
import { DateTime } from "effect"
import { inWords } from "../following/follow.ts"
import type { EventNames } from "../names/eventNames.ts"
import { cutMiddle } from "../output/textWidth.ts"

/** The action, the status and the id of the operation that an event is of. */
const operationOf = ({ data }: Envelope) => {
  const { action, operation_id, status } = data
  return typeof action === "string" && typeof status === "string"
    ? { action, status, id: String(operation_id) }
    : undefined
}

/** The action and status of an operation, or the data of any other event as JSON. */
export const eventText = (event: Envelope): string => {
  const operation = operationOf(event)
  return operation === undefined
    ? JSON.stringify(event.data)
    : `${operation.action} ${operation.status}  ${operation.id}`
}

/** The columns of an id in a line for people. */
const shortId = 13

/** The time of day where the reader is. */
const timeOf = (at: DateTime.Utc) => new Date(DateTime.toEpochMillis(at)).toTimeString().slice(0, 8)

/**
 * Lines for a person at a terminal: `10:42:03  shop  create branch preview  finished 0.4 s`. An operation took the time
 * since its event `running`, if this reader has had it.
 */
export const makeEventLines = () => {
  const begun = new Map<string, number>()
  const tookOf = (id: string, status: string, at: number): string => {
    const since = begun.get(id)
    if (status === "running") begun.set(id, since ?? at)
    if (status === "running" || status === "scheduling" || since === undefined) return ""
    begun.delete(id)
    return ` ${((at - since) / 1000).toFixed(1)} s`
  }
  return (event: Envelope, { branch, project }: EventNames): string => {
    const where = project ?? (event.project_id === undefined ? [] : cutMiddle(event.project_id, shortId))
    const operation = operationOf(event)
    if (operation === undefined)
      return [timeOf(event.at), where, event.type, JSON.stringify(event.data)].flat().join("  ")
    const { action, id, status } = operation
    const what = [inWords(action), branch ?? []].flat().join(" ")
    const took = tookOf(id, status, DateTime.toEpochMillis(event.at))
    return [timeOf(event.at), where, what, `${status}${took}`].flat().join("  ")
  }
}
