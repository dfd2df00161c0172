/**
 * Networks and addresses in one canonical spelling.
 *
 * `ipaddr.js` reads addresses as C's `inet_aton` does: "010.0.0.0/8" is 8.0.0.0/8 to it, "10/8" is
 * 0.0.0.10/8, and it drops the quad of most IPv6 addresses that end in one. On an allowlist each of these admits a
 * network that the user did not mean. So quads are decimal without leading zeros, alone and at the end of an IPv6
 * address (RFC 4291 §2.2), where they are rewritten before the library sees them; zones are refused. IPv4-mapped IPv6,
 * which is what a dual-stack socket reports, is read as IPv4, in rules and in addresses alike.
 */
import { type Brand, Result, Schema } from "effect"
import ipaddr from "ipaddr.js"

/** A network in canonical text: `10.0.0.0/8`, `2001:db8::/32`. Equal networks are equal strings. */
export type Cidr = string & Brand.Brand<"Cidr">
export const Cidr: Schema.brand<Schema.String, "Cidr"> = Schema.String.pipe(Schema.brand("Cidr"))

/** The text is not a CIDR network. `reason` is fit to show to a person. */
export class MalformedCidr extends Schema.TaggedError<MalformedCidr>()("MalformedCidr", {
  cidr: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `"${this.cidr}" is not a CIDR network: ${this.reason}${this.reason.endsWith("?") ? "" : "."}`
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

const mappedPrefix = 96

/** Reads a network as the API takes it, with white space around it. An address without a prefix length is refused. */
export const parseCidr = (text: string): Result.Result<Cidr, MalformedCidr> => {
  const alone = parseAddress(text.trim())
  return alone === undefined
    ? parseCidrOrAddress(text)
    : refuse(text, `it names no prefix length. Did you mean ${spell(alone, bits(alone))}?`)
}

/**
 * Reads what a person types or pastes, with white space around it: a network, or an address as the network of that
 * address alone.
 */
export const parseCidrOrAddress = (text: string): Result.Result<Cidr, MalformedCidr> => {
  const [host = "", length, ...rest] = text.trim().split("/")
  const address = parseAddress(host)
  if (address === undefined || rest.length > 0)
    return refuse(text, "expected an IPv4 or IPv6 address, a slash and a prefix length")

  const mapped = address.kind() === "ipv4" && host.includes(":")
  const widest = mapped ? 128 : bits(address)
  const given = length === undefined ? widest : /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) : Number.NaN
  if (!(given <= widest)) return refuse(text, `the prefix length must be a whole number from 0 to ${widest}`)
  if (mapped && given < mappedPrefix)
    return refuse(text, `an IPv4-mapped network needs a prefix length of at least ${mappedPrefix}`)
  const prefix = mapped ? given - mappedPrefix : given

  const network = spell(networkOf(address, prefix), prefix)
  return network === spell(address, prefix)
    ? Result.succeed(network)
    : refuse(text, `bits are set after the prefix. Did you mean ${network}?`)
}

/** Whether the address is inside the network. An address that cannot be read is outside of every network. */
export const contains = (network: Cidr, address: string): boolean => {
  const peer = parseAddress(address)
  if (peer === undefined) return false
  const [base, prefix] = ipaddr.parseCIDR(network)
  return base.kind() === peer.kind() && peer.match(base, prefix)
}

/** Whether the text is an IPv4 or IPv6 address, in any of its spellings, and nothing more. */
export const isAddress = (text: string): boolean => parseAddress(text) !== undefined

const refuse = (cidr: string, reason: string) => Result.fail(new MalformedCidr({ cidr, reason }))

function parseAddress(text: string): Address | undefined {
  if (quad.test(text)) return ipaddr.IPv4.parse(text)
  const plain = withoutQuad(text)
  if (plain === undefined || !ipaddr.IPv6.isValid(plain) || plain.includes("%")) return undefined
  const address = ipaddr.IPv6.parse(plain)
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
const quad = new RegExp(String.raw`^${octet}(?:\.${octet}){3}$`)

/**
 * An IPv6 address that ends in a quad, with the quad as two hexadecimal groups; `undefined` if the quad is malformed.
 */
function withoutQuad(text: string): string | undefined {
  if (!text.includes(".")) return text
  const start = text.lastIndexOf(":") + 1
  const tail = text.slice(start)
  if (start === 0 || !quad.test(tail)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = tail.split(".").map(Number)
  return `${text.slice(0, start)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

const bits = (address: Address) => (address.kind() === "ipv4" ? 32 : 128)

const spell = (address: Address, prefix: number) => `${address.toString()}/${prefix}` as Cidr

const networkOf = (address: Address, prefix: number): Address =>
  address.kind() === "ipv4"
    ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${prefix}`)
    : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${prefix}`)
