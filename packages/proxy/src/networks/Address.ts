/**
 * Addresses and networks as bytes, for matching.
 *
 * Only the core's strict `Cidr` module parses text; this module turns its canonical spelling into bytes.
 *
 * Pitfall: matching a peer as the socket reports it. A dual-stack socket reports IPv4 peers as `::ffff:a.b.c.d`, which
 * no IPv4 rule covers; `parsePeer` makes the address canonical.
 */
import { parseCidrOrAddress } from "@narthex/core"
import { Result } from "effect"

export interface Address {
  /** Canonical: equal addresses have equal texts. */
  readonly text: string
  readonly family: 4 | 6
  readonly bytes: Uint8Array
}

export interface Network {
  readonly family: 4 | 6
  readonly bytes: Uint8Array
  readonly prefix: number
}

/** Parses a network or a single address; `undefined` if it is neither. */
export const parseNetwork = (text: string): Network | undefined => {
  const canonical = Result.getOrUndefined(parseCidrOrAddress(text))
  return canonical === undefined ? undefined : networkOf(canonical)
}

const networkOf = (canonical: string): Network => {
  const [host = "", prefix = ""] = canonical.split("/")
  const bytes = host.includes(":") ? bytesOf6(host) : Uint8Array.from(host.split("."), Number)
  return { family: bytes.length === 4 ? 4 : 6, bytes, prefix: Number(prefix) }
}

/** Parses the address of a peer as sockets report it; a zone (`%eth0`) is dropped. `undefined` if it is not one. */
export const parsePeer = (text: string): Address | undefined => {
  const [host = ""] = text.split("%")
  if (host.includes("/")) return undefined
  const canonical = Result.getOrUndefined(parseCidrOrAddress(host))
  if (canonical === undefined) return undefined
  const { bytes, family } = networkOf(canonical)
  return { text: canonical.slice(0, canonical.indexOf("/")), family, bytes }
}

/** The /24 or /64 of an address, as a key for counting: it usually belongs to one household or one machine. */
export const neighbourhood = (address: Address): string =>
  `${address.family}:${Buffer.from(address.bytes.subarray(0, address.family === 4 ? 3 : 8)).toString("hex")}`

function bytesOf6(host: string): Uint8Array {
  const [head = "", tail] = host.split("::")
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)))
  const before = groups(head)
  const after = groups(tail ?? "")
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
