/**
 * Where webhooks may lead: HTTPS, and addresses of the public internet alone (docs/design/webhooks.md H8).
 *
 * The address is checked at each attempt, by whoever connects to it. The form of the URL is checked when it is stored.
 *
 * Pitfall: refusing lists of internal networks. A spelling or a translation that is not on the list leads inside, so only
 * what is known to be public passes.
 */
import { Context } from "effect"
import ipaddr from "ipaddr.js"
import { type Cidr, contains, isAddress } from "../allowlist/Cidr.ts"
import { webhookLimits } from "./Webhook.ts"

/** Networks that webhooks may lead to although they are not public, by the operator's choice. */
export const WebhookNetworks = Context.Reference<ReadonlyArray<Cidr>>(
  "@narthex/core/records/webhooks/WebhookNetworks",
  {
    defaultValue: () => []
  }
)

/** The part of IPv6 that is assigned to the public internet. */
const publicIpv6 = ipaddr.IPv6.parseCIDR("2000::/3")

/** Whether the address is one of the public internet: global unicast, and no translation of another address. */
export const isPublicAddress = (address: string): boolean => {
  // IPv6 that ends in a quad stands for an address of IPv4.
  if (!isAddress(address) || (address.includes(":") && address.includes("."))) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== "unicast") return false
  return parsed.kind() === "ipv4" || parsed.match(publicIpv6)
}

/** Whether a webhook may connect to the address. */
export const mayReach = (address: string, networks: ReadonlyArray<Cidr>): boolean =>
  isPublicAddress(address) || networks.some((network) => contains(network, address))

/** The host of a URL without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1")

/** White space, control characters, lone surrogates: `URL.parse` drops or escapes them, storage and terminals do not. */
const unfit = /[\p{Z}\p{C}]/u

/** Why the text is no URL of a receiver, as a sentence; `undefined`: it is. */
export const whyNoReceiver = (text: string, networks: ReadonlyArray<Cidr>): string | undefined => {
  const url = text.length <= webhookLimits.url ? URL.parse(text) : null
  if (url === null) return `Expected a URL of at most ${webhookLimits.url} characters.`
  if (unfit.test(text)) return "Expected a URL without white space and control characters."
  if (url.protocol !== "https:") return "Expected a URL that begins with https://."
  if (url.username !== "" || url.password !== "") return "Expected a URL without a user name and a password."
  if (url.hash !== "") return "Expected a URL without a fragment."
  const host = hostOf(url)
  if (isAddress(host) && !mayReach(host, networks)) return "Expected an address of the public internet."
  return undefined
}
