/**
 * A script without Effect that follows an organization's events, across reconnections.
 *
 *     NARTHEX_API_KEY=nsk_… node --conditions=source examples/watchEvents.ts
 */
import { type ClientOptions, createClient } from "@narthex/api"

export interface Watcher {
  /** An operation has reached this status. Returns `false` to stop watching. */
  readonly onOperation: (id: string, status: string) => boolean
  /** Events were missed: read the current state. */
  readonly onMissed: () => void
}

/** Returns the position at which it stopped. Pass it as `after` to resume there. */
export const watch = async (options: ClientOptions, { onMissed, onOperation }: Watcher, after?: string) => {
  const { events } = createClient(options)
  let position = after
  for await (const item of events.subscribe(after === undefined ? {} : { after })) {
    position = item.position
    // Without a position, earlier events are not delivered: read the current state now.
    if (item.kind === "connected" && position === undefined) onMissed()
    if (item.kind === "gap" || item.kind === "overflow") onMissed()
    if (item.kind !== "event" || item.event.type !== "operation.updated.v1") continue // ignore unknown types
    const { operation_id, status } = item.event.data
    if (!onOperation(String(operation_id), String(status))) break
  }
  return position
}

if (import.meta.main) {
  const { NARTHEX_API_KEY = "", NARTHEX_URL = "http://127.0.0.1:4400" } = process.env
  await watch(
    { baseUrl: NARTHEX_URL, credential: NARTHEX_API_KEY },
    {
      onOperation: (id, status) => {
        console.log(`${id} is ${status}`)
        return true
      },
      onMissed: () => console.log("read the current state")
    }
  )
}
