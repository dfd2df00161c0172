/**
 * The address of a client behind proxies: what limits, sessions, keys and allowlists refer to.
 *
 * Every proxy appends the address that it saw to `X-Forwarded-For`. Only the last entries are written by trusted
 * proxies; the client can send any others. Hence the count from the right.
 *
 * The server reads its callers with it, and the console reports its browsers with it, so both agree on each address.
 *
 * Pitfall: reading the first entry. The client may have written it.
 */
import { parseCidrOrAddress } from "@narthex/core"
import { Result } from "effect"

/**
 * The client's canonical address, or `null` when none can be read.
 *
 * Walks back from the socket over at most `trustedHops` entries of `X-Forwarded-For`. An entry that cannot be read ends
 * the walk, and the address before it counts.
 */
export const clientAddress = (
  socket: string | undefined,
  forwardedFor: string | undefined,
  trustedHops: number
): string | null => {
  let client = canonicalAddress(socket)
  const trusted = trustedHops === 0 ? [] : (forwardedFor ?? "").split(",").slice(-trustedHops)
  for (const entry of trusted.toReversed()) {
    const address = canonicalAddress(entry)
    if (address === null) return client
    client = address
  }
  return client
}

/** The addresses read last, by their text: the same few come with every request, and reading one takes 5 µs. */
const known = new Map<string, string | null>()
const most = 1_024

/**
 * One spelling for each address: no zone, no port, IPv4-mapped IPv6 as IPv4. `null` for text that is not an address.
 */
export const canonicalAddress = (text: string | undefined): string | null => {
  if (text === undefined || text.length > longest) return read(text ?? "")
  const found = known.get(text)
  if (found !== undefined) return found
  const address = read(text)
  if (known.size >= most) known.clear()
  known.set(text, address)
  return address
}

/** Text that clients send may be longer, and is not kept. */
const longest = 64

const read = (text: string): string | null => {
  const host = withoutPort(text.trim()).replace(/%.*$/, "")
  // Most requests came through no proxy, and the parser refuses an empty text by an exception.
  if (host === "" || host.includes("/")) return null
  const network = Result.getOrNull(parseCidrOrAddress(host))
  return network === null ? null : network.slice(0, network.indexOf("/"))
}

/** Some proxies append the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const withoutPort = (text: string) =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text
