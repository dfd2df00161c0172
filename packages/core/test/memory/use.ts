/** Time that passes while reports of proxies can be received, and the reports. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { EndpointId } from "../../src/Ids.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { type ActivityReport, activityTiming } from "../../src/records/projects/EndpointUse.ts"

/** Lets this many seconds pass while an instance of the API receives reports. */
export const pass = Effect.fnUntraced(function* (seconds: number) {
  const { noteReceiving } = yield* EndpointStore
  yield* noteReceiving
  for (let left = seconds * 1_000; left > 0; left -= activityTiming.outage) {
    yield* TestClock.adjust(Math.min(left, activityTiming.outage))
    yield* noteReceiving
  }
})

let sequence = 0

/** A report of the proxy `p-1` about generation 1, with one idle session, unless `rest` says otherwise. */
export const report = (
  endpoint_id: EndpointId,
  { proxy_id = "p-1", ...rest }: Partial<ActivityReport> & { readonly proxy_id?: string | null } = {}
) =>
  Effect.flatMap(EndpointStore, (store) =>
    store.noteActivity({
      proxy_id,
      sequence: proxy_id === null ? 0 : ++sequence,
      endpoints: [{ endpoint_id, generation: 1, connections: 1, busy: 0, idle_ms: 0, ...rest }]
    })
  )
