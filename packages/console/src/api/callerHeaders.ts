/**
 * Whose request this is, for the API: limits, sessions and allowlists speak of the browser's address, not of ours.
 *
 * Each proxy appends to `X-Forwarded-For` what it saw; the last entries are written by machines of ours, the rest is
 * whatever the caller typed. Hence the count from the right.
 */
import { isIP } from "node:net"

/** Walks back from the socket over at most `trustedHops` entries; one that cannot be read ends the walk. */
export const clientAddress = (
  socket: string | undefined,
  forwardedFor: string | undefined,
  trustedHops: number
): string | undefined => {
  let client = address(socket)
  const believed = trustedHops === 0 ? [] : (forwardedFor ?? "").split(",").slice(-trustedHops)
  for (const entry of believed.toReversed()) {
    const before = address(entry)
    if (before === undefined) return client
    client = before
  }
  return client
}

/** Without port, brackets and zone; IPv4-mapped IPv6 as IPv4. */
const address = (text: string | undefined): string | undefined => {
  const trimmed = (text ?? "").trim()
  const host =
    /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  const bare = host.replace(/%.*$/, "").replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "")
  return isIP(bare) === 0 ? undefined : bare
}

/** What the API is sent about the caller. Only with the console's token does it believe them. */
export const callerHeaders = (
  token: string | undefined,
  client: string | undefined,
  agent: string | undefined
): Readonly<Record<string, string>> => ({
  ...(token === undefined ? {} : { "narthex-console": token }),
  ...(token === undefined || client === undefined ? {} : { "narthex-client-address": client }),
  ...(token === undefined || agent === undefined ? {} : { "narthex-client-agent": agent.slice(0, 512) })
})
