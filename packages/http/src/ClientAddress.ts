/**
 * The client of a request: its address and agent, or those that the console reports for its browser.
 *
 * How an address is read behind proxies is `clientAddress` of the contract, which the console uses too.
 */
import { canonicalAddress, clientAddress } from "@narthex/api"
import { equalInConstantTime } from "@narthex/core"
import { Redacted } from "effect"

export interface ClientOrigin {
  /** Canonical: equal addresses are equal strings. `null` when no address can be read. */
  readonly address: string | null
  readonly user_agent: string | null
}

export interface OriginRules {
  /** How many entries of `X-Forwarded-For` are trusted, from the right (`NARTHEX_TRUSTED_HOPS`). */
  readonly trusted_hops: number
  /** A request with this token in `Narthex-Console` may report its browser's origin; `null`: no request may. */
  readonly console_token: Redacted.Redacted | null
}

export interface IncomingOrigin {
  readonly socket_address: string | undefined
  /** Lower-case names, as Node gives them. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

const longestAgent = 512

/** The address and agent of a request; the console speaks for its browser. */
export const clientOrigin = (request: IncomingOrigin, rules: OriginRules): ClientOrigin => {
  const { headers } = request
  const direct: ClientOrigin = {
    address: clientAddress(request.socket_address, headers["x-forwarded-for"], rules.trusted_hops),
    user_agent: shortened(headers["user-agent"])
  }
  if (!isToken(headers["narthex-console"], rules.console_token)) return direct
  return {
    address: canonicalAddress(headers["narthex-client-address"]) ?? direct.address,
    user_agent: shortened(headers["narthex-client-agent"]) ?? direct.user_agent
  }
}

/** Whether `presented` is the token, compared in a time that depends on the lengths only. `false` when there is no token. */
export const isToken = (presented: string | undefined, token: Redacted.Redacted | null): boolean =>
  presented !== undefined && token !== null && equalInConstantTime(presented, Redacted.value(token))

const shortened = (text: string | undefined) => (text === undefined || text === "" ? null : text.slice(0, longestAgent))
