/** How many clients the allowlist of a project refused lately, for the overview (docs/design/console.md W54). */
import { Clock, DateTime, Effect } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import type { ProjectAsked } from "./inProject.ts"

/** All that the API keeps of a project (docs/design/api.md A23). */
const limit = 100

const millisecondsInHour = 3_600_000

export interface RecentRefusals {
  /** Addresses that were refused in the last hour. */
  readonly count: number
  /** Every entry that is kept is of the last hour, so earlier ones of this hour may be gone. */
  readonly more: boolean
}

/** One call. The refused clients are left out (`undefined`) where it fails: the page says less. */
export const readRecentRefusals = Effect.fnUntraced(
  function* ({ params }: ProjectAsked) {
    const { refusals } = yield* calling((api) => api.ipAllow.refusals({ params, query: { limit } }))
    const since = (yield* Clock.currentTimeMillis) - millisecondsInHour
    const recent = refusals.filter(({ last_at }) => DateTime.toEpochMillis(last_at) >= since)
    const count = new Set(recent.map(({ address }) => address)).size
    return { count, more: recent.length >= limit } satisfies RecentRefusals
  },
  (read) => Effect.orElseSucceed(read, () => undefined)
)
