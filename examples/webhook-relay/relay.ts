/**
 * Sends the events of an organization to a webhook, each at least once and in order. The last delivered id is kept, so
 * the relay continues after a restart, and a receiver that is down for an hour gets everything afterwards.
 */
import { createHmac } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { ControlPlane } from "narthex"

/** Where the relay keeps how far it has come, for example a row of your own database. */
export interface Bookmark {
  readonly read: () => Promise<string | undefined>
  readonly write: (event_id: string) => Promise<void>
}

export interface RelayOptions {
  readonly org_id: string
  readonly url: string
  /** The receiver compares the signature, and drops an event whose id it has seen. */
  readonly secret: string
  readonly bookmark: Bookmark
  /** Called where events are missing, because the log retains them no longer. */
  readonly onGap: (reason: string) => Promise<void>
  readonly signal: AbortSignal
  /** Milliseconds before the first repetition of a delivery; each further pause doubles, up to a minute. */
  readonly pause?: number
}

const isDelivered = async ({ secret, signal, url }: RelayOptions, id: string, body: string): Promise<boolean> => {
  const signature = createHmac("sha256", secret).update(`${id}.${body}`).digest("base64url")
  const headers = { "content-type": "application/json", "webhook-id": id, "webhook-signature": `v1,${signature}` }
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)])
    return (await fetch(url, { method: "POST", headers, body, signal: limit })).ok
  } catch {
    return false
  }
}

/** Runs until `signal` is aborted. */
export const relay = async (cp: ControlPlane, options: RelayOptions): Promise<void> => {
  const { bookmark, onGap, org_id, pause = 1_000, signal } = options
  const after = await bookmark.read()
  for await (const item of cp.events.subscribe({ org_id, signal, ...(after === undefined ? {} : { after }) })) {
    if (item.kind === "gap") {
      await onGap(item.reason)
      continue
    }
    const body = JSON.stringify(item.event)
    for (let wait = pause; !(await isDelivered(options, item.event.id, body)); wait = Math.min(wait * 2, 60_000)) {
      if (signal.aborted) return
      await sleep(wait, undefined, { signal }).catch(() => undefined)
    }
    await bookmark.write(item.event.id)
  }
}
