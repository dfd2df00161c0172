/**
 * Tokens whose signature was verified, by their whole text, with what they say (docs/design/identity.md I22). The
 * most recently used are kept.
 *
 * Only a token that this platform has signed gets in, so requests with forged ones displace nothing.
 */
import type { SessionClaims } from "@narthex/core"

/** A token and what is kept of it have up to 2 KiB; together 8 MiB. */
const most = 4096

export interface VerifiedToken {
  /** The key that signed it. */
  readonly kid: string
  readonly claims: SessionClaims
}

export class VerifiedTokens {
  /** In the order of their use, the oldest first. */
  readonly #tokens = new Map<string, VerifiedToken>()
  readonly #most: number

  constructor(size: number = most) {
    this.#most = size
  }

  find(text: string): VerifiedToken | undefined {
    const found = this.#tokens.get(text)
    if (found === undefined) return undefined
    this.#tokens.delete(text)
    this.#tokens.set(text, found)
    return found
  }

  add(text: string, token: VerifiedToken): void {
    this.#tokens.set(text, token)
    const oldest = this.#tokens.keys().next()
    if (this.#tokens.size > this.#most && oldest.done !== true) this.#tokens.delete(oldest.value)
  }
}
