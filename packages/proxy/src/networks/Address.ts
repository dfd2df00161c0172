/**
 * Addresses and networks as bytes, for the matcher.
 *
 * Text is read by the core's strict `Cidr` module alone; this file only turns its canonical spelling into bytes.
 *
 * Pitfall: matching a peer as the socket reports it. A dual-stack socket reports IPv4 peers as `::ffff:a.b.c.d`; a peer
 * is made canonical before it is matched and before it is printed.
 */
import { Result } from "effect"
import { parseCidrOrAddress } from "@narthex/core"

export interface Address {
  /** Canonical: equal addresses are equal strings. */
  readonly text: string
  readonly family: 4 | 6
  readonly bytes: Uint8Array
}

export interface Network {
  readonly family: 4 | 6
  readonly bytes: Uint8Array
  readonly prefix: number
}

/** Reads a network or a single address; `undefined` if the core does not. */
export const parseNetwork = (text: string): Network | undefined => {
  const canonical = Result.getOrUndefined(parseCidrOrAddress(text))
  if (canonical === undefined) return undefined
  const [host = "", prefix = ""] = canonical.split("/")
  const bytes = host.includes(":") ? bytesOf6(host) : Uint8Array.from(host.split("."), Number)
  return { family: bytes.length === 4 ? 4 : 6, bytes, prefix: Number(prefix) }
}

/** Reads the address of a peer as sockets report it, zone (`%eth0`) and all. */
export const parsePeer = (text: string): Address | undefined => {
  const [host = ""] = text.split("%")
  if (host.includes("/")) return undefined
  const canonical = Result.getOrUndefined(parseCidrOrAddress(host))
  const network = parseNetwork(host)
  if (canonical === undefined || network === undefined) return undefined
  return { text: canonical.slice(0, canonical.indexOf("/")), family: network.family, bytes: network.bytes }
}

/** The /24 or /64 around an address: one household or one machine, as a key for counting. */
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
