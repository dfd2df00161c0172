/**
 * Compares what a client received with the log: every event once and in order, or a frame that names exactly what is
 * missing.
 */
import type { Frame } from "./StreamClient.ts"

export interface Verdict {
  readonly events: number
  readonly gaps: number
  readonly overflows: number
  readonly wrong: ReadonlyArray<string>
}

/** The number of ids of an ascending list that are at most this one. */
const countUpTo = (log: ReadonlyArray<string>, id: string): number => {
  let [low, high] = [0, log.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((log[middle] ?? "") <= id) low = middle + 1
    else high = middle
  }
  return low
}

/** `log`: ids of the scope's client-visible events, ascending. `from`: where the client began. */
export const judge = (log: ReadonlyArray<string>, from: string, frames: ReadonlyArray<Frame>): Verdict => {
  const wrong: Array<string> = []
  let next = countUpTo(log, from)
  let last = from
  let events = 0
  let gaps = 0
  let overflows = 0
  for (const { data, event, id } of frames) {
    if (id <= last) wrong.push(`${event} ${id} does not follow ${last}`)
    last = id
    if (event === "resume.gap.v1" || event === "overflow.v1") {
      const latest = String(data["latest_id"])
      const behind = countUpTo(log, latest)
      if (behind <= next) wrong.push(`${event} ${id} where nothing was missed`)
      if (event === "overflow.v1" && data["dropped"] !== behind - next)
        wrong.push(`${event} ${id} says ${data["dropped"]}, not ${behind - next}`)
      if (event === "resume.gap.v1") gaps += 1
      else overflows += 1
      next = Math.max(next, behind)
    } else {
      const behind = countUpTo(log, id)
      if (id !== log[next]) wrong.push(`${id} came, ${log[next]} was next (${behind - 1 - next} away)`)
      next = Math.max(next, behind)
      events += 1
    }
  }
  if (next !== log.length) wrong.push(`${log.length - next} events at the end never came`)
  return { events, gaps, overflows, wrong }
}
