/**
 * Tells all proxies of a cancel request whose session is at another one (docs/design/proxy.md P49).
 *
 * A stranger can cause cancel requests, and each that is handed over is an event that the log keeps. Requests above the
 * rates are dropped: a cancel request promises nothing.
 */
import { DateTime, Effect } from "effect"
import { type CancelNotice, cancelRequested } from "../../records/events/CancelNotice.ts"
import { networkOf } from "../../records/limits/clientNetwork.ts"
import { RateLimiter } from "../../records/limits/RateLimiter.ts"
import { Transaction } from "../../Transaction.ts"

/** How many are handed over each minute, of all proxies together. */
const perMinute = { network: 300, all: 1_000 }

export const makeHandOverCancel = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const { emit, run } = yield* Transaction

  const isWithin = Effect.fnUntraced(function* (subject: string, limit: number) {
    const now = yield* DateTime.now
    const taken = { limit_name: "proxy_cancels", subject, limit, window_seconds: 60, now, cost: 1 }
    return (yield* limiter.take(taken)).allowed
  })

  return Effect.fn("ProxyRequests.cancel")(function* (notice: CancelNotice) {
    // The network is counted first, so that its superfluous requests take nothing from other networks.
    if (!(yield* isWithin(networkOf(notice.client_address), perMinute.network))) return
    if (yield* isWithin("all", perMinute.all)) yield* run(emit(cancelRequested(notice)))
  })
})
