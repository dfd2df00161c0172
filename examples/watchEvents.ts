/**
 * A script without Effect that follows an organization's events, across reconnections.
 *
 *     NARTHEX_API_KEY=nsk_… node --conditions=source examples/watchEvents.ts
 */
import { type ClientSettings, subscribeAsync } from "@narthex/api"
import { Redacted } from "effect"

export interface Watcher {
  /** An operation has reached this status. Returns `false` to stop watching. */
  readonly onOperation: (id: string, status: string) => boolean
  /** Events were missed: read the current state. */
  readonly onMissed: () => void
}

/** Returns the id of the last event. Pass it as `after` to resume there. */
export const watch = async (settings: ClientSettings, { onMissed, onOperation }: Watcher, after?: string) => {
  let last = after
  const options = { path: "/v1/events" as const, ...(after === undefined ? {} : { lastEventId: after }) }
  for await (const item of subscribeAsync(settings, options)) {
    switch (item._tag) {
      case "Connected":
        // Without `after`, earlier events are not delivered: read the current state now.
        if (item.lastEventId === undefined) onMissed()
        break
      case "Bookmark":
        last = item.lastEventId
        break
      case "Gap":
      case "Overflow":
        onMissed()
        break
      case "Event": {
        const { data, id, type } = item.envelope
        last = id
        if (type !== "operation.updated.v1") break // ignore unknown types
        if (!onOperation(String(data["operation_id"]), String(data["status"]))) return last
      }
    }
  }
  return last
}

if (import.meta.main) {
  const { NARTHEX_API_KEY = "", NARTHEX_URL = "http://127.0.0.1:4400" } = process.env
  await watch(
    { baseUrl: NARTHEX_URL, credential: Redacted.make(NARTHEX_API_KEY) },
    {
      onOperation: (id, status) => {
        console.log(`${id} is ${status}`)
        return true
      },
      onMissed: () => console.log("read the current state")
    }
  )
}
