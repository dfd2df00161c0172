/** A cache of allowlists that follows the changes of the control plane, as in a proxy. */
import { Effect } from "effect"
import { type AllowlistCacheSettings, makeAllowlistCache } from "../../src/control-plane/AllowlistCache.ts"
import { followChanges } from "../../src/control-plane/followChanges.ts"
import { ProxyMetrics } from "../../src/outcomes/ProxyMetrics.ts"

const none = { changed: () => undefined, reload: () => undefined }
const cancelHere = () => undefined

export const followed = Effect.fnUntraced(function* (settings: AllowlistCacheSettings) {
  const allowlists = yield* makeAllowlistCache(settings, new ProxyMetrics(yield* Effect.context<never>()))
  yield* followChanges({ allowlists, endpoints: none, cancelHere })
  return allowlists
})
