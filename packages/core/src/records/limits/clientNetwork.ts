/**
 * The machine and the network that limits count when they know only the address of a client: the same for the API and
 * for proxies.
 *
 * | | counts as a machine | counts as a network |
 * |---|---|---|
 * | IPv4 | the address | its /24 |
 * | IPv6 | its /64 | its /48 |
 *
 * Pitfall: counting the whole address of IPv6. A machine has a /64, with as many addresses as it likes; a site has a
 * /48, which is 65,536 machines' prefixes.
 */
import ipaddr from "ipaddr.js"

/** The first bytes of an IPv6 address, as a key; `undefined` for other text. */
const first = (address: string, bytes: number): string | undefined =>
  ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address).toByteArray().slice(0, bytes).join(".") : undefined

/** The key of a client's machine. `address` is canonical: equal addresses are equal texts. */
export const machineOf = (address: string): string => {
  const prefix = address.includes(":") ? first(address, 8) : undefined
  return prefix === undefined ? address : `${prefix}/64`
}

/** The key of a client's network. */
export const networkOf = (address: string): string => {
  const prefix = address.includes(":") ? first(address, 6) : undefined
  return prefix === undefined ? address.slice(0, Math.max(0, address.lastIndexOf("."))) || address : `${prefix}/48`
}
