/**
 * Session cookies that were opened, by their whole text, with what is in them: each request of a browser brings the same
 * one. The most recently used are kept.
 *
 * Only a cookie that the console has sealed gets in, so requests with forged ones displace nothing. Opening one says that
 * the console made it, and no more: whether its session has ended is the API's to say, on each request.
 */
import type { JWTPayload } from "jose"

/** A cookie and its content have up to 4 KiB; together 16 MiB. */
const most = 4096

export class OpenedCookies {
  /** Cookies in the order of their use, the least recent first. */
  readonly #cookies = new Map<string, JWTPayload>()
  readonly #most: number

  constructor(size: number = most) {
    this.#most = size
  }

  /** The content of a cookie that was opened before. Pitfall: forgetting its expiry, which passes while it is kept. */
  find(text: string, now: number): JWTPayload | undefined {
    const found = this.#cookies.get(text)
    if (found === undefined) return undefined
    this.#cookies.delete(text)
    if (found.exp === undefined || found.exp <= Math.floor(now / 1000)) return undefined
    this.#cookies.set(text, found)
    return found
  }

  add(text: string, content: JWTPayload): void {
    this.#cookies.set(text, content)
    const oldest = this.#cookies.keys().next()
    if (this.#cookies.size > this.#most && oldest.done !== true) this.#cookies.delete(oldest.value)
  }
}
