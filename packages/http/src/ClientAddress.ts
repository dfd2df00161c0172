/**
 * Who is calling, as far as it can be known: the address that limits, sessions, keys and allowlists speak of.
 *
 * Every proxy appends to `X-Forwarded-For` what it saw, so only the last entries are written by machines of ours; the
 * rest is whatever the caller typed. Hence the count from the right.
 *
 * Pitfall: reading the first entry. The caller may have written it.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import { parseCidrOrAddress } from "@narthex/core"
import { Redacted, Result } from "effect"

export interface ClientOrigin {
  /** Canonical: equal addresses are equal strings. `null` when nothing readable was there. */
  readonly address: string | null
  readonly user_agent: string | null
}

export interface OriginRules {
  /** How many `X-Forwarded-For` entries are believed (`NARTHEX_TRUSTED_HOPS`). */
  readonly trusted_hops: number
  /** With this token in `Narthex-Console`, the console's word is taken; `null`: nobody's is. */
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

/** Walks back from the socket over at most `trustedHops` entries; one that cannot be read ends the walk. */
export const clientAddress = (
  socket: string | undefined,
  forwardedFor: string | undefined,
  trustedHops: number
): string | null => {
  let client = canonicalAddress(socket)
  const believed = trustedHops === 0 ? [] : (forwardedFor ?? "").split(",").slice(-trustedHops)
  for (const entry of believed.toReversed()) {
    const address = canonicalAddress(entry)
    if (address === null) return client
    client = address
  }
  return client
}

/** One spelling for each address: no zone, no port, IPv4-mapped IPv6 as IPv4. `null` when it is none. */
export const canonicalAddress = (text: string | undefined): string | null => {
  const host = withoutPort((text ?? "").trim()).replace(/%.*$/, "")
  // Most requests came through no proxy, and the parser refuses an empty text by an exception.
  if (host === "" || host.includes("/")) return null
  const network = Result.getOrNull(parseCidrOrAddress(host))
  return network === null ? null : network.slice(0, network.indexOf("/"))
}

/** Is this the token? Compared by hash, so that time tells nothing about it. Without a token nothing is. */
export const isToken = (presented: string | undefined, token: Redacted.Redacted | null): boolean =>
  presented !== undefined && token !== null && timingSafeEqual(digest(presented), digest(Redacted.value(token)))

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Some proxies append the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const withoutPort = (text: string) =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text

const shortened = (text: string | undefined) => (text === undefined || text === "" ? null : text.slice(0, longestAgent))
