/**
 * Addresses and networks as bytes, for matching.
 *
 * The core's strict `Cidr` module parses text; this module turns its canonical spelling into bytes. Only an IPv4 address
 * in this spelling, as the kernel reports nearly every peer, is read here: each connection reads one.
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

const mapped = "::ffff:"

/** Parses the address of a peer as sockets report it; a zone (`%eth0`) is dropped. `undefined` if it is not one. */
export const parsePeer = (text: string): Address | undefined => {
  const quad = text.startsWith(mapped) ? text.slice(mapped.length) : text
  const four = bytesOf4(quad)
  return four === undefined ? parseOther(text) : { text: quad, family: 4, bytes: four }
}

const parseOther = (text: string): Address | undefined => {
  const [host = ""] = text.split("%")
  if (host.includes("/")) return undefined
  const canonical = Result.getOrUndefined(parseCidrOrAddress(host))
  if (canonical === undefined) return undefined
  const { bytes, family } = networkOf(canonical)
  return { text: canonical.slice(0, canonical.indexOf("/")), family, bytes }
}

const [zero, dot] = [48, 46]

/** Four decimal bytes without leading zeros; `undefined` for every other text. */
function bytesOf4(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4)
  let at = 0
  for (let n = 0; n < 4; n++) {
    const first = at
    let value = 0
    for (let digit = text.charCodeAt(at) - zero; digit >= 0 && digit <= 9; digit = text.charCodeAt(++at) - zero)
      value = 10 * value + digit
    const digits = at - first
    if (digits === 0 || digits > 3 || value > 255 || (digits > 1 && text.charCodeAt(first) === zero)) return undefined
    bytes[n] = value
    if (n < 3 && text.charCodeAt(at++) !== dot) return undefined
  }
  return at === text.length ? bytes : undefined
}

function bytesOf6(host: string): Uint8Array {
  const [head = "", tail] = host.split("::")
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)))
  const before = groups(head)
  const after = groups(tail ?? "")
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
